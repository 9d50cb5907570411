import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { bashSpec, stubKey, userText } from '../stubs/read-answer.ts'
import { anthropicDialect } from '../stubs/stub-anthropic.ts'
import { googleDialect } from '../stubs/stub-google.ts'
import { openaiChatDialect } from '../stubs/stub-openai-chat.ts'
import { openaiResponsesDialect } from '../stubs/stub-openai-responses.ts'
import { startStub, type StubDialect } from '../stubs/stub-server.ts'
import { openModel } from '../wire.ts'
import { readToolInput } from './tool-input.ts'

const wires: Record<string, StubDialect> = {
  'anthropic-messages': anthropicDialect,
  'openai-completions': openaiChatDialect,
  'openai-responses': openaiResponsesDialect,
}

const cut: [string, RegExp][] = [
  ['{"file_path":"/workspace/x.txt","content":"half of the fi', /ends before/],
  ['{"command":"rm -rf /workspace/keep', /ends before/],
  ['{"command":"sleep 1","timeout_ms":60', /ends before/],
  ['{"command":"sleep 1"', /ends before/],
  ['{"command":"sleep 1",', /ends before/],
  ['{"command":["a","b"', /ends before/],
  ['{"command": "touch /workspace/a", "timeout_ms": abc}', /eout_ms": abc/],
  ['{"command":"a","timeout_ms":}', /Unexpected|Expected/],
  ['{"command":"a",}', /Expected/],
  ["{'command':'a'}", /Expected/],
  ['{"command":"a"}{"command":"b"}', /another object/],
  ['Sure! {"command":"a"}', /does not begin/],
  ['"rm -rf /"', /does not begin/],
  ['["a"]', /no object/],
  ['12', /no object/],
  ['{"a":'.repeat(600), /nested deeper/],
]

const whole: [string, unknown][] = [
  ['', {}],
  [' \n', {}],
  ['null', {}],
  ['{"command":"echo ok"}}', { command: 'echo ok' }],
  ['{"command":"a"}{"command": "a"}', { command: 'a' }],
  ['{"command":"a"}\nThat is it.', { command: 'a' }],
  ['```json\n{"command":"a"}\n```', { command: 'a' }],
  ['{"command":"a\nb\tc"}', { command: 'a\nb\tc' }],
  [
    String.raw`{"command":"grep \d \u12 '\\d' \"x\""}`,
    { command: String.raw`grep \d \u12 '\d' "x"` },
  ],
  [JSON.stringify('{"command":"a"}'), { command: 'a' }],
  [
    String.raw`{"command":"x \ud83d y","\ude00":["\ud83d\ude00"]}`,
    { command: 'x \ufffd y', '\ufffd': ['😀'] },
  ],
]

void describe('the input of a call', () => {
  for (const [text, why] of cut) {
    void it(`is a fault and nothing else: ${text.slice(0, 60)}`, () => {
      const { input, fault } = readToolInput(text)
      assert.deepEqual(input, {})
      assert.match(fault ?? '', why)
    })
  }
  for (const [text, input] of whole) {
    void it(`is read without loss: ${text.slice(0, 60)}`, () => {
      assert.deepEqual(readToolInput(text), { input })
    })
  }

  for (const [api, dialect] of Object.entries(wires)) {
    for (const stop of ['tool_use', 'end_turn', 'max_tokens'] as const) {
      void it(`is not made whole on ${api}, where the answer ends with ${stop}`, async () => {
        await using stub = await startStub(dialect)
        const pieces = ['{"command":"rm -rf', ' /workspace/keep']
        stub.replies({ blocks: [{ type: 'tool_call', id: 't', name: 'bash', pieces }], stop })
        const model = openModel({
          ...{ provider: 'acme', model: 'm', api_key: stubKey },
          api,
          base_url: stub.url,
        })
        const blocks = []
        const call = { system: '', messages: [userText('Hi')], tools: [bashSpec] }
        for await (const event of model.stream({ ...call, signal: new AbortController().signal })) {
          if (event.type === 'block_end') blocks.push(event.block)
        }
        const [block] = blocks
        assert.ok(block?.type === 'tool_call')
        assert.deepEqual(block.input, {})
        assert.match(block.fault ?? '', /ends before its object is closed/)
      })
    }
  }

  void it('is not made whole where Google sends it as a text', async () => {
    await using stub = await startStub(googleDialect)
    const send = async (args: unknown) => {
      const parts = [{ functionCall: { name: 'bash', args } }]
      const event = { candidates: [{ content: { parts }, finishReason: 'STOP' }] }
      stub.replies({ body: `data: ${JSON.stringify(event)}\n\n`, contentType: 'text/event-stream' })
      const spec = { provider: 'acme', api: 'google-generative-ai', model: 'm', api_key: stubKey }
      const events = []
      const call = { system: '', messages: [userText('Hi')], tools: [bashSpec] }
      const { signal } = new AbortController()
      for await (const each of openModel({ ...spec, base_url: stub.url }).stream({
        ...call,
        signal,
      }))
        if (each.type === 'block_end') events.push(each.block)
      const [block] = events
      return block?.type === 'tool_call' ? { input: block.input, fault: block.fault } : block
    }
    assert.deepEqual(await send('{"command":"a"}'), { input: { command: 'a' }, fault: undefined })
    assert.deepEqual(await send(null), { input: {}, fault: undefined })
    assert.match(
      JSON.stringify(await send('{"command":"a')),
      /does not begin with an object|ends before/,
    )
    assert.match(JSON.stringify(await send(['a'])), /no object/)
  })
})
