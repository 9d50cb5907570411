import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Message } from '../model.ts'
import { bashSpec, stubKey, userText } from '../stubs/read-answer.ts'
import { brokenRules } from '../stubs/rule-keeper.ts'
import { anthropicDialect } from '../stubs/stub-anthropic.ts'
import { googleDialect } from '../stubs/stub-google.ts'
import { openaiChatDialect } from '../stubs/stub-openai-chat.ts'
import { openaiResponsesDialect } from '../stubs/stub-openai-responses.ts'
import { startStub, type StubDialect, type StubReply } from '../stubs/stub-server.ts'
import { type ModelSpec, type ModelWire, modelWires } from '../spec.ts'
import { openModel } from '../wire.ts'

const dialects: Record<ModelWire, StubDialect> = {
  'anthropic-messages': anthropicDialect,
  'openai-completions': openaiChatDialect,
  'openai-responses': openaiResponsesDialect,
  'google-generative-ai': googleDialect,
}
const good: StubReply = { blocks: [{ type: 'text', pieces: ['Good.'] }], stop: 'end_turn' }
const refusal = (status: number, message: string): StubReply => ({
  status,
  error: 'invalid_request_error',
  message,
})

const bytes = (head: string) => Buffer.from(`${head} and more of it`, 'latin1').toString('base64')
const png = bytes('\x89PNG\r\n\x1a\n')
const image = (data: string, media_type = 'image/png') =>
  ({ type: 'image', media_type, data }) as const
const text = (said: string) => ({ type: 'text', text: said }) as const

function turn(
  api: ModelWire,
  id: string,
  name: string,
  input: Record<string, unknown>,
  content: Extract<Message, { role: 'tool_result' }>['content'],
): Message[] {
  const origin = { provider: 'acme', api, model: 'm' }
  return [
    { role: 'assistant', content: [{ type: 'tool_call', id, name, input }], origin },
    { role: 'tool_result', tool_call_id: id, tool_name: name, content, is_error: false },
  ]
}

async function ask(api: ModelWire, messages: Message[], ...replies: StubReply[]) {
  await using stub = await startStub(dialects[api])
  stub.replies(...(replies.length > 0 ? replies : [good]))
  const native_config = { input: ['text', 'image', 'document'] }
  const known = { provider: 'acme', model: 'm', api_key: stubKey, native_config }
  const spec: ModelSpec = { ...known, api, base_url: stub.url }
  const call = { system: 'Be brief.', messages, tools: [bashSpec] }
  let last
  for await (const event of openModel(spec).stream({
    ...call,
    signal: new AbortController().signal,
  }))
    last = event
  return { last, bodies: stub.requests.map(({ body }) => body) }
}

for (const api of modelWires) {
  void describe(`a request over ${api}`, () => {
    void it('breaks no rule of the provider, whatever models, servers and commands have said', async () => {
      const messages = [
        userText('x \ud83d y'),
        ...turn(api, 'call_0', 'bash', { command: 'echo \ud83d' }, [text('\r\n')]),
        ...turn(api, 'call_0', 'multi_tool_use.parallel', {}, [text('')]),
        ...turn(api, 'call_0', 'x'.repeat(300), {}, [text(''), image(png), text(' ')]),
        ...turn(api, 'call_0', 'bash echo', {}, [image(bytes('\xff\xd8\xff'))]),
        ...turn(api, 'functions.bash:0', '\u0000', {}, [image(bytes('<html>'))]),
        ...turn(api, '', '', {}, []),
        ...turn(api, 'i'.repeat(200), '9 lives', {}, [image('**')]),
        userText(' '),
      ]
      const { bodies, last } = await ask(api, messages)
      assert.equal(last?.type, 'end')
      assert.deepEqual(brokenRules(api, bodies[0] ?? {}), [])
      const sent = JSON.stringify(bodies[0])
      assert.match(sent, /\(no output\)/)
      assert.ok(sent.includes('image/jpeg'), 'an image has the kind of its bytes')
      assert.match(sent, /an image that is left out: its bytes are no PNG/)
    })

    void it('is repeated once without the image that the provider refused', async () => {
      const messages = [
        userText('Look.'),
        ...turn(api, 'call_1', 'bash', {}, [text('a picture'), image(png)]),
        userText('Well?'),
      ]
      const { last, bodies } = await ask(
        api,
        messages,
        refusal(400, 'Could not process image'),
        good,
      )
      assert.equal(last?.type, 'end')
      assert.equal(bodies.length, 2)
      assert.ok(JSON.stringify(bodies[0]).includes(png))
      assert.ok(!JSON.stringify(bodies[1]).includes(png))
      assert.match(JSON.stringify(bodies[1]), /\[an image that the provider refused\]/)
      assert.deepEqual(brokenRules(api, bodies[1] ?? {}), [])
    })

    void it('is not repeated when nothing can be omitted, and gives the words of the provider', async () => {
      const why = 'max_tokens: too large for an image model'
      const { last, bodies } = await ask(api, [userText('Hi')], refusal(400, why))
      assert.ok(last?.type === 'failed')
      assert.match(last.failure.message, /too large/)
      assert.equal(bodies.length, 1)
    })
  })
}

void describe('a part that a provider names by its position', () => {
  const fields: [ModelWire, string][] = [
    ['anthropic-messages', 'messages.0.content.1.image.source.base64: invalid data'],
    ['openai-completions', "Invalid 'messages[1].content[1].image_url': unsupported"],
    ['openai-responses', "Invalid 'input[1].content[1].image_url'. Expected a valid URL"],
  ]
  for (const [api, message] of fields) {
    void it(`alone is omitted over ${api}`, async () => {
      const other = bytes('GIF89a')
      const content = [text('See'), image(png), image(other, 'image/gif')]
      const { bodies, last } = await ask(
        api,
        [{ role: 'user', content }],
        refusal(400, message),
        good,
      )
      assert.equal(last?.type, 'end')
      const second = JSON.stringify(bodies[1])
      assert.ok(!second.includes(png) && second.includes(other))
    })
  }
})
