import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Message } from '../model.ts'
import { stubKey, readModelAnswer, userText } from '../stubs/read-answer.ts'
import { anthropicDialect } from '../stubs/stub-anthropic.ts'
import { googleDialect } from '../stubs/stub-google.ts'
import { openaiChatDialect } from '../stubs/stub-openai-chat.ts'
import { openaiResponsesDialect } from '../stubs/stub-openai-responses.ts'
import { type StubDialect, startStub } from '../stubs/stub-server.ts'
import { openModel } from '../wire.ts'

const endpoints: [string, string, StubDialect][] = [
  ['anthropic-messages', 'claude-test', anthropicDialect],
  ['openai-completions', 'gpt-test', openaiChatDialect],
  ['openai-responses', 'gpt-test', openaiResponsesDialect],
  ['google-generative-ai', 'gemini-3-flash', googleDialect],
  ['google-generative-ai', 'gemini-2.5-flash', googleDialect],
]

type WireBody = Record<string, unknown>
type BodyTurn = WireBody & { role?: string }
const listOf = ({ messages, input, contents }: WireBody) =>
  (messages ?? input ?? contents) as BodyTurn[]
const blocksOf = ({ content, parts }: BodyTurn): unknown[] => [content ?? parts].flat()

/** Google's responses are turns of their own: it counts them against the calls of the turn before. */
function speakerOf(turn: BodyTurn): string {
  const parts = (turn.parts ?? []) as object[]
  const responses = parts.filter((part) => 'functionResponse' in part).length
  assert.ok(responses === 0 || responses === parts.length, 'responses stand alone')
  return responses > 0 ? 'responses' : (turn.role ?? 'item')
}

/** Each block with its role. */
const flat = (body: WireBody): string[] =>
  listOf(body).flatMap((turn) =>
    blocksOf(turn).map((block) =>
      JSON.stringify([turn.role, block]).replace(/,"cache_control":\{[^}]*\}/, ''),
    ),
  )

/** The requests for the messages, and for their prefixes of these lengths. */
async function requestsFor(
  [api, model, dialect]: (typeof endpoints)[number],
  messages: (origin: { provider: string; api: string; model: string }) => Message[],
  lengths: number[],
): Promise<WireBody[]> {
  await using stub = await startStub(dialect)
  stub.replies({ blocks: [{ type: 'text', pieces: ['Hi'] }], stop: 'end_turn' })
  const native_config = { reasoning: true, input: ['text', 'image', 'document'] }
  const spec = { provider: 'acme', api, model, native_config, base_url: stub.url, api_key: stubKey }
  const opened = openModel(spec)
  for (const length of lengths) {
    const { last } = await readModelAnswer(opened, messages(opened.origin).slice(0, length))
    assert.equal(last?.type, 'end', JSON.stringify(last))
  }
  return stub.requests.map(({ body }) => body)
}

const another = { provider: 'other', api: 'other', model: 'other' }
const said = (text: string, origin: typeof another): Message => ({
  role: 'assistant',
  content: [{ type: 'text', text }],
  origin,
})
const picture = { type: 'image', media_type: 'image/png', data: 'iVBORw0KGgpTSE9U' } as const
const document = { type: 'document', media_type: 'application/pdf', data: 'RE9D' } as const

/** Turns that were given up, messages that were promoted together, pictures in results, and messages without a word. */
const messagesFrom = (origin: typeof another): Message[] => [
  userText('given up 1'),
  userText('given up 2'),
  { role: 'system', content: [{ type: 'text', text: 'note' }] },
  userText('asked'),
  {
    role: 'assistant',
    content: ['1', '2'].map((id) => ({ type: 'tool_call', id, name: 'bash', input: {} })),
    origin,
  },
  ...['1', '2'].map((id): Message => ({
    role: 'tool_result',
    ...{ tool_call_id: id, tool_name: 'bash', is_error: false },
    content: [{ type: 'text', text: `result ${id}` }, picture, document],
  })),
  userText('promoted 1'),
  userText('promoted 2'),
  { role: 'assistant', content: [{ type: 'thinking', text: 'cut' }], origin: another },
  userText('once more'),
  said('an answer', origin),
  userText(' '),
  said('and another', origin),
  userText('the newest'),
]
const inOrder = ['given up 1', 'given up 2', 'note', 'asked', 'result 1', 'result 2', 'promoted 1']
inOrder.push('promoted 2', 'once more', 'an answer', 'empty message', 'and another', 'the newest')

void describe('the turns of a request', () => {
  for (const endpoint of endpoints) {
    const name = `${endpoint[0]}, ${endpoint[1]}`
    void it(`are never two of one role in a row: ${name}`, async () => {
      const bodies = await requestsFor(endpoint, messagesFrom, [1, 2, 4, 7, 8, 9, 11, 13, 15])
      for (const body of bodies) {
        const speakers = listOf(body).map(speakerOf)
        for (const [i, speaker] of speakers.entries()) {
          const alternates = /user|assistant|model|responses/.test(speaker)
          assert.ok(!alternates || speakers[i + 1] !== speaker, speakers.join(' '))
        }
      }
      const whole = JSON.stringify(bodies.at(-1))
      const fields = inOrder.map((text) => whole.indexOf(text))
      assert.ok(!fields.includes(-1), whole)
      const sorted = fields.toSorted((a, b) => a - b)
      assert.deepEqual(fields, sorted)
    })

    void it(`begin with the blocks of the request before: ${name}`, async () => {
      const bodies = await requestsFor(endpoint, messagesFrom, [1, 2, 4, 7, 8, 9, 11, 13, 15])
      const blocks = bodies.map(flat)
      for (const [i, longer] of blocks.slice(1).entries()) {
        const shorter = blocks[i]
        assert.ok(shorter !== undefined && shorter.length < longer.length)
        assert.deepEqual(longer.slice(0, shorter.length), shorter)
      }
    })
  }
})
