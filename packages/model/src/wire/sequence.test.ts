import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { processorMs } from '@steward/base/cost-fixture.ts'
import type { Message } from '../model.ts'
import { bashSpec, stubKey, readModelAnswer, userText } from '../stubs/read-answer.ts'
import { openaiChatDialect } from '../stubs/stub-openai-chat.ts'
import { anthropicDialect } from '../stubs/stub-anthropic.ts'
import { formatSse, startStub } from '../stubs/stub-server.ts'
import { openModel } from '../wire.ts'

const spec = { provider: 'openrouter', api: 'openai-completions', model: 'm', api_key: stubKey }

function body(...deltas: Record<string, unknown>[]) {
  const chunk = (delta: unknown, finish_reason: string | null) =>
    formatSse({ id: 'c', choices: [{ index: 0, delta, finish_reason }] })
  const frames = [
    ...deltas.map((delta) => chunk(delta, null)),
    chunk({}, 'stop'),
    'data: [DONE]\n\n',
  ]
  return { body: frames.join(''), contentType: 'text/event-stream' }
}

const call = (index: number, args: string, name?: string) => ({
  tool_calls: [
    {
      index,
      ...(name !== undefined && { id: `call_${index}` }),
      function: { name, arguments: args },
    },
  ],
})

/** The inputs of the calls, and the reason of the end. */
async function inputsOf(model: ReturnType<typeof openModel>) {
  const inputs: unknown[] = []
  let stop = ''
  const { signal } = new AbortController()
  const call = { system: '', messages: [userText('Hi')], tools: [bashSpec], signal }
  for await (const event of model.stream(call)) {
    if (event.type === 'block_end' && event.block.type === 'tool_call')
      inputs.push(event.block.input)
    if (event.type === 'end') stop = event.stop
  }
  return { inputs, stop }
}

void describe('blocks in one order', () => {
  void it('keeps calls apart whose pieces come mixed', async () => {
    await using stub = await startStub(openaiChatDialect)
    stub.replies(
      body(
        { content: 'Both.' },
        call(0, '', 'bash'),
        call(0, '{"command":'),
        call(1, '', 'bash'),
        call(1, '{"command":"b"'),
        call(0, '"a"}'),
        call(1, '}'),
      ),
    )
    const { blocks } = await readModelAnswer(openModel({ ...spec, base_url: stub.url }), [
      userText('Hi'),
    ])
    assert.deepEqual(blocks, [
      { type: 'text', text: 'Both.' },
      { type: 'tool_call', id: 'call_0', name: 'bash', input: { command: 'a' } },
      { type: 'tool_call', id: 'call_1', name: 'bash', input: { command: 'b' } },
    ])
  })

  void it('goes on in a new block when text comes after a call', async () => {
    await using stub = await startStub(openaiChatDialect)
    stub.replies(
      body({ content: 'Before.' }, call(0, '{}', 'bash'), { content: 'Aft' }, { content: 'er.' }),
    )
    const { blocks } = await readModelAnswer(openModel({ ...spec, base_url: stub.url }), [
      userText('Hi'),
    ])
    assert.deepEqual(
      blocks.map((block) => (block.type === 'tool_call' ? block.name : block.text)),
      ['Before.', 'bash', 'After.'],
    )
  })

  void it('gives a call an id of its own when the server gave none', async () => {
    await using stub = await startStub(openaiChatDialect)
    const nameless = { tool_calls: [{ index: 0, function: { name: 'bash', arguments: '{}' } }] }
    stub.replies(body(nameless))
    const { blocks } = await readModelAnswer(openModel({ ...spec, base_url: stub.url }), [
      userText('Hi'),
    ])
    assert.match(blocks[0]?.type === 'tool_call' ? blocks[0].id : '', /^call_[0-9a-f]{32}$/)
  })

  void it('keeps reasoning that is complete only when the message is', async () => {
    await using stub = await startStub(openaiChatDialect)
    const details = [{ type: 'reasoning.encrypted', id: 'r1', data: 'c2VjcmV0', index: 0 }]
    stub.replies(body({ reasoning: 'Hm.' }, { content: 'Yes.' }, { reasoning_details: details }))
    const model = openModel({ ...spec, base_url: stub.url, native_config: { reasoning: true } })
    const { blocks } = await readModelAnswer(model, [userText('Hi')])
    assert.deepEqual(
      blocks.map(({ type }) => type),
      ['thinking', 'text', 'thinking'],
    )
    const said: Message = { role: 'assistant', content: blocks, origin: model.origin }
    await readModelAnswer(model, [userText('Hi'), said, userText('More')])
    assert.match(
      JSON.stringify(stub.requests[1]?.body),
      /"reasoning_details":\[\{"type":"reasoning.encrypted"/,
    )
  })

  void it('takes an input of brackets for an empty one, at once', async () => {
    await using stub = await startStub(openaiChatDialect)
    stub.replies(body(call(0, '[', 'bash'), ...Array(40).fill(call(0, '['.repeat(10_000)))))
    const began = processorMs()
    const { inputs } = await inputsOf(openModel({ ...spec, base_url: stub.url }))
    assert.deepEqual(inputs, [{}])
    assert.ok(processorMs() - began < 1_500)
  })

  void it('takes an input that is nested too deeply to be written again for an empty one', async () => {
    await using stub = await startStub(openaiChatDialect)
    const nested = (depth: number) => `{"a":${'['.repeat(depth)}"[{"${']'.repeat(depth)}}`
    const inputs = [nested(100_000), nested(255), `{"a":"${'['.repeat(300)}"}`]
    stub.replies(body(...inputs.map((input, index) => call(index, input, 'bash'))))
    const read = await inputsOf(openModel({ ...spec, base_url: stub.url }))
    assert.deepEqual(read.inputs, [{}, ...inputs.slice(1).map((input) => JSON.parse(input))])
  })

  void it('takes an input with long names, which a parser compares with each other, for an empty one', async () => {
    await using stub = await startStub(openaiChatDialect)
    const named = (length: number) => `{"${'a'.repeat(length)}":"${'b'.repeat(20_000)}","c":1}`
    const inputs = [named(8_193), named(8_192)]
    stub.replies(body(...inputs.map((input, index) => call(index, input, 'bash'))))
    const read = await inputsOf(openModel({ ...spec, base_url: stub.url }))
    assert.deepEqual(read.inputs, [{}, JSON.parse(named(8_192))])
  })

  void it('reads the input of a large call in time that grows with its size alone', async () => {
    await using stub = await startStub(anthropicDialect)
    const text = JSON.stringify({ command: 'echo "line"\n'.repeat(5_000) })
    const pieces = text.match(/[^]{1,6}/g) ?? []
    stub.replies({
      blocks: [{ type: 'tool_call', id: 't', name: 'bash', pieces }],
      stop: 'tool_use',
    })
    const model = openModel({ ...spec, api: 'anthropic-messages', base_url: stub.url })
    const before = process.cpuUsage()
    const { blocks } = await readModelAnswer(model, [userText('Hi')])
    const { user: micros } = process.cpuUsage(before)
    assert.deepEqual(blocks[0]?.type === 'tool_call' && blocks[0].input, JSON.parse(text))
    assert.ok(micros < 5_000_000, `${micros} µs`)
  })
})
