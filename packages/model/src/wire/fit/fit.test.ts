import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AssistantBlock, ModelEvent } from '../../model.ts'
import { bashSpec, stubKey, userText } from '../../stubs/read-answer.ts'
import { anthropicDialect } from '../../stubs/stub-anthropic.ts'
import { formatSse, startStub } from '../../stubs/stub-server.ts'
import type { ModelWire } from '../../spec.ts'
import { openModel } from '../../wire.ts'

/** The answer to a body, as one line for each block, and how it ended. */
async function answerOf(api: ModelWire, body: string) {
  await using stub = await startStub(anthropicDialect)
  stub.replies({ body, contentType: 'text/event-stream' })
  const spec = { provider: 'acme', api, model: 'm', api_key: stubKey, base_url: stub.url }
  const call = { system: '', messages: [userText('Hi')], tools: [bashSpec] }
  const blocks: AssistantBlock[] = []
  let last: ModelEvent | undefined
  for await (const event of openModel(spec).stream({
    ...call,
    signal: new AbortController().signal,
  })) {
    if (event.type === 'block_end') blocks.push(event.block)
    last = event
  }
  const ids = blocks.flatMap((block) => (block.type === 'tool_call' ? [block.id] : []))
  assert.equal(new Set(ids).size, ids.length, 'ids are unique')
  const end = last?.type === 'end' ? last.stop : last?.type === 'failed' ? last.failure.message : ''
  return { said: blocks.map(shown), end, usage: last && 'usage' in last ? last.usage : undefined }
}

function shown(block: AssistantBlock): string {
  if (block.type !== 'tool_call') return `${block.type}: ${block.text}`
  return `${block.name} ${block.fault === undefined ? JSON.stringify(block.input) : `!${block.fault}`}`
}

type Delta = Record<string, unknown>
const chunk = (delta: unknown, finish_reason?: unknown) =>
  formatSse({
    id: 'c',
    choices: [{ index: 0, delta, ...(finish_reason !== undefined && { finish_reason }) }],
  })
const done = 'data: [DONE]\n\n'
const chat = (deltas: Delta[], end = chunk({}, 'stop') + done) =>
  answerOf('openai-completions', deltas.map((delta) => chunk(delta)).join('') + end)
const call = (args: unknown, more: Delta = {}) => ({
  tool_calls: [{ index: 0, function: { name: 'bash', arguments: args }, ...more }],
})
const one = '{"command":"echo one"}'
const two = '{"command":"echo two"}'
const both = [`bash ${one}`, `bash ${two}`]

void describe('chat completions as others speak them', () => {
  const twoCalls: Record<string, Delta[]> = {
    'one index and two ids': [call(one, { id: 'a' }), call(two, { id: 'b' })],
    'one index and no ids': [call(one), call(two)],
    'one index and one id': [call(one, { id: 'x' }), call(two, { id: 'x' })],
    'two indexes and one id': [call(one, { id: 'x' }), call(two, { id: 'x', index: 1 })],
    'no index and two ids': [
      call(one, { id: 'a', index: null }),
      call(two, { id: 'b', index: null }),
    ],
    'no index and no ids': [call(one, { index: null }), call(two, { index: null })],
    'indexes that are texts': [call(one, { id: 1, index: '0' }), call(two, { id: 2, index: '1' })],
    'one event': [{ tool_calls: [...call(one).tool_calls, ...call(two).tool_calls] }],
    'pieces behind their heads': [
      call('', { id: 'a' }),
      { tool_calls: [{ index: 0, function: { arguments: one } }] },
      call('', { id: 'b' }),
      { tool_calls: [{ index: 0, function: { arguments: two } }] },
    ],
    ...Object.fromEntries(
      [undefined, 'a'].map((id) => [
        `heads of which the second has an id, the first ${id === undefined ? 'none' : 'the same'}`,
        [
          call('', id === undefined ? {} : { id }),
          { tool_calls: [{ index: 0, function: { arguments: one } }] },
          call('', { id: 'a' }),
          { tool_calls: [{ index: 0, function: { arguments: two } }] },
        ],
      ]),
    ),
    'heads without ids': [
      call(''),
      { tool_calls: [{ index: 0, function: { arguments: one } }] },
      call(''),
      { tool_calls: [{ index: 0, function: { arguments: two } }] },
    ],
    objects: [call({ command: 'echo one' }), call({ command: 'echo two' })],
    'JSON in JSON': [call(JSON.stringify(one)), call(JSON.stringify(two))],
  }
  for (const [name, deltas] of Object.entries(twoCalls)) {
    void it(`two calls are two with ${name}`, async () => {
      assert.deepEqual((await chat(deltas)).said, both)
    })
  }

  void it('one call stays one, whatever is repeated with its pieces', async () => {
    const halves = [one.slice(0, 9), one.slice(9)]
    for (const more of [{ id: 'a' }, {}]) {
      const { said } = await chat([...halves, ''].map((half) => call(half, more)))
      assert.deepEqual(said, [`bash ${one}`])
    }
    const changing = halves.map((half, n) => call(half, { id: `random-${n}` }))
    assert.deepEqual((await chat(changing)).said, [`bash ${one}`])
    assert.deepEqual((await chat([{ function_call: { name: 'bash', arguments: one } }])).said, [
      `bash ${one}`,
    ])
  })

  void it('a call that was begun and not finished is a fault, and one without a name too', async () => {
    const begun = await chat([call('{"command":"rm -rf /wor', { id: 'a' }), call(two, { id: 'b' })])
    assert.match(begun.said.join('\n'), /!/)
    assert.ok(!begun.said.some((said) => said.includes('{"command":"rm')))
    const nameless = await chat([
      { tool_calls: [{ index: 0, id: 'a', function: { arguments: one } }] },
    ])
    assert.deepEqual(nameless, { ...nameless, said: [`unnamed ${one}`], end: 'tool_use' })
  })

  const ends: [string, string, string][] = [
    ['without a reason', done, 'end_turn'],
    ['with null', chunk({}, null) + done, 'end_turn'],
    ['with an empty reason', chunk({}, '') + done, 'end_turn'],
    ['with a word that is not known', chunk({}, 'eos') + done, 'end_turn'],
    ['with a word of another wire', chunk({}, 'max_tokens') + done, 'max_tokens'],
    ['with a word in capitals', chunk({}, 'STOP'), 'end_turn'],
  ]
  for (const [name, end, stop] of ends) {
    void it(`an answer that ends ${name} counts`, async () => {
      assert.deepEqual(await chat([{ content: 'Hello' }], end), {
        ...{ said: ['text: Hello'], end: stop },
        usage: (await chat([])).usage,
      })
      const called = await chat([call(one)], end)
      assert.deepEqual(called.said, [`bash ${one}`])
    })
  }

  void it('an answer that only breaks off, or ends with a failure, does not', async () => {
    assert.match((await chat([{ content: 'Hello' }], '')).end, /without finish_reason/)
    assert.match((await chat([{ content: 'Hello' }], chunk({}, 'error') + done)).end, /error/)
  })

  void it('a content may be a list of parts, a number or null', async () => {
    const { said } = await chat([
      { content: null },
      { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }] },
      { content: [{ type: 'text', text: 'It is ' }] },
      { content: 42 },
    ])
    assert.deepEqual(said, ['thinking: Hm.', 'text: It is 42'])
  })

  void it('a whole message replaces its pieces, and does not repeat them', async () => {
    const message = { content: 'Hello', tool_calls: call(one).tool_calls }
    const whole = formatSse({ choices: [{ message, finish_reason: 'stop' }] }) + done
    assert.deepEqual((await chat([], whole)).said, ['text: Hello', `bash ${one}`])
    assert.deepEqual((await chat([{ content: 'Hello' }, call(one)], whole)).said, [
      'text: Hello',
      `bash ${one}`,
    ])
  })

  void it('an error says its words', async () => {
    const { end } = await chat(
      [{ content: 'He' }],
      formatSse({ error: { message: 'out of memory', code: 500 } }),
    )
    assert.match(end, /out of memory/)
  })
})

const messages = (...events: Record<string, unknown>[]) =>
  answerOf(
    'anthropic-messages',
    events.map((event) => formatSse(event, String(event.type))).join(''),
  )
const start = { type: 'message_start', message: { id: 'm', role: 'assistant', content: [] } }
const began = (index: unknown, content_block: unknown) => ({
  type: 'content_block_start',
  index,
  content_block,
})
const delta = (index: unknown, said: unknown) => ({
  type: 'content_block_delta',
  index,
  delta: said,
})
const ended = (index: unknown) => ({ type: 'content_block_stop', index })
const stop = [
  { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
  { type: 'message_stop' },
]
const tool = { type: 'tool_use', id: 't', name: 'bash', input: {} }
const hello = [
  began(0, { type: 'text', text: '' }),
  delta(0, { type: 'text_delta', text: 'Hi' }),
  ended(0),
]

void describe('the Messages wire as others speak it', () => {
  void it('a message begins without usage, with null, or without a message', async () => {
    for (const message of [
      start.message,
      { ...start.message, usage: null },
      null,
      { usage: { input_tokens: '7' } },
    ]) {
      const { said, end } = await messages({ type: 'message_start', message }, ...hello, ...stop)
      assert.deepEqual([said, end], [['text: Hi'], 'end_turn'])
    }
  })

  void it('an end without a reason, or with a word that is not known, is an end', async () => {
    for (const reason of [null, '', 'eos', 'model_context_window_exceeded', undefined]) {
      const change = {
        type: 'message_delta',
        delta: reason === undefined ? null : { stop_reason: reason },
      }
      const { said, end } = await messages(start, ...hello, change, { type: 'message_stop' })
      assert.deepEqual(said, ['text: Hi'])
      assert.equal(end, reason === 'model_context_window_exceeded' ? 'max_tokens' : 'end_turn')
    }
  })

  void it('blocks with one index, without an index or without a start are kept apart', async () => {
    const input = (text: string) => ({ type: 'input_json_delta', partial_json: text })
    const twins = await messages(
      ...[
        start,
        began(0, tool),
        delta(0, input(one)),
        began(0, tool),
        delta(0, input(two)),
        ended(0),
      ],
      ...stop,
    )
    assert.deepEqual(twins.said, both)
    const bare = await messages(
      start,
      began(null, tool),
      delta(null, input(one)),
      ended(null),
      ...stop,
    )
    assert.deepEqual(bare.said, [`bash ${one}`])
    const headless = await messages(start, delta(3, { type: 'text_delta', text: 'Hi' }), ...stop)
    assert.deepEqual(headless.said, ['text: Hi'])
  })

  void it('a call whose input never came is a fault', async () => {
    assert.match(
      (await messages(start, began(0, tool), ...stop)).said.join(''),
      /^bash !it never came/,
    )
    assert.deepEqual((await messages(start, began(0, tool), ended(0), ...stop)).said, ['bash {}'])
  })

  void it('an input comes as an object, at once, or as a text', async () => {
    for (const input of [{ command: 'echo one' }, one])
      assert.deepEqual(
        (await messages(start, began(0, { ...tool, input }), ended(0), ...stop)).said,
        [`bash ${one}`],
      )
    const piece = { type: 'input_json_delta', partial_json: { command: 'echo one' } }
    assert.deepEqual(
      (await messages(start, began(0, tool), delta(0, piece), ended(0), ...stop)).said,
      [`bash ${one}`],
    )
  })

  void it('events need no names, and come as bare lines too', async () => {
    const events = [start, ...hello, ...stop]
    const bare = events.map((event) => `${JSON.stringify(event)}\n\n`).join('')
    const unnamed = events
      .map((event) => formatSse(event))
      .join('')
      .replaceAll('\n', '\r\n')
    for (const body of [bare, unnamed])
      assert.deepEqual((await answerOf('anthropic-messages', body)).said, ['text: Hi'])
  })
})

void describe('the Responses wire as others speak it', () => {
  const responses = (...events: Record<string, unknown>[]) =>
    answerOf('openai-responses', events.map((event) => formatSse(event)).join(''))
  const completed = { type: 'response.completed', response: { status: 'completed' } }
  const item = { type: 'function_call', id: 'fc', call_id: 'call', name: 'bash', arguments: one }
  const message = { type: 'message', id: 'm', content: [{ type: 'output_text', text: 'Hi' }] }
  const itemDone = (sent: unknown, output_index?: number) => ({
    type: 'response.output_item.done',
    item: sent,
    output_index,
  })

  void it('items come with their end only, or with the end of the answer only', async () => {
    assert.deepEqual((await responses(itemDone(message, 0), itemDone(item, 1), completed)).said, [
      'text: Hi',
      `bash ${one}`,
    ])
    const late = { type: 'response.completed', response: { output: [message, item] } }
    assert.deepEqual((await responses(late)).said, ['text: Hi', `bash ${one}`])
  })

  void it('an input that is not whole is a fault, wherever it comes', async () => {
    const cut = { ...item, arguments: '{"command":"rm -rf /wor' }
    for (const response of [
      { status: 'completed' },
      { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
    ]) {
      const type = `response.${response.status}`
      const { said } = await responses(itemDone(cut, 0), { type, response })
      assert.match(said.join(''), /^bash !/)
    }
  })

  void it('texts need no item around them, and an end needs no content', async () => {
    const text = { type: 'response.output_text.delta', delta: 'Hi' }
    assert.deepEqual((await responses(text, completed)).said, ['text: Hi'])
    const blank = itemDone({ ...message, content: null }, 0)
    const said = (
      await responses({ ...text, output_index: 0 }, blank, { type: 'response.completed' })
    ).said
    assert.deepEqual(said, ['text: Hi'])
  })
})

void describe("Google's wire as others speak it", () => {
  const google = (...events: unknown[]) =>
    answerOf('google-generative-ai', events.map((event) => formatSse(event)).join(''))

  void it('has null for absent, numbers for texts and a single part', async () => {
    const parts = [{ text: 4 }, { text: '2', thought: null, functionCall: null }]
    const candidate = { content: { parts }, finishReason: null }
    const last = {
      candidates: [{ content: { parts: { text: '!' } }, finishReason: 'eos' }],
      usageMetadata: null,
    }
    const { said, end } = await google({ candidates: [candidate], usageMetadata: null }, last)
    assert.deepEqual([said, end], [['text: 42!'], 'end_turn'])
  })
})

void describe('a text of half characters', () => {
  void it('is whole in pieces and in sum', async () => {
    const { said } = await chat([
      { content: 'a \ud83d' },
      { content: '\ude00 b \ud83d' },
      { content: ' c' },
    ])
    assert.deepEqual(said, ['text: a 😀 b \ufffd c'])
    const raw = chunk({ content: 'x' }).replace('"x"', String.raw`"x \ud83d y"`)
    assert.deepEqual((await chat([], raw + done)).said, ['text: x \ufffd y'])
  })
})
