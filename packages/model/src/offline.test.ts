import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Message, ModelEvent, ToolSpec } from './model.ts'
import { modelContract } from './contract.ts'
import { offlineModel } from './offline.ts'
import { bashSpec, readModelAnswer, userText } from './stubs/read-answer.ts'

const model = offlineModel({ thinkMs: 0 })
const tools: ToolSpec[] = [bashSpec, { ...bashSpec, name: 'write' }, { ...bashSpec, name: 'read' }]

/** Plays the harness: every call gets the next of these results. */
async function play(text: string, results: string[]) {
  const messages: Message[] = [userText('Hello'), userText(text)]
  const calls: [string, Record<string, unknown>][] = []
  const said: string[] = []
  for (;;) {
    const { blocks, last } = await readModelAnswer(model, messages, { tools })
    for (const block of blocks) if (block.type === 'text') said.push(block.text)
    if (last?.type !== 'end' || last.stop !== 'tool_use') return { calls, said, last, messages }
    messages.push({ role: 'assistant', content: blocks, origin: model.origin })
    for (const block of blocks) {
      if (block.type !== 'tool_call') continue
      calls.push([block.name, block.input])
      messages.push({
        role: 'tool_result',
        tool_call_id: block.id,
        tool_name: block.name,
        content: [{ type: 'text', text: results.shift() ?? '' }],
        is_error: false,
      })
    }
  }
}

modelContract('offline', async ({ thinking, text, call, stop, fail }) => {
  const lines: string[] = []
  if (thinking !== undefined) lines.push(`think: ${thinking}`)
  if (text !== undefined) lines.push(`say: ${text}`)
  if (call !== undefined) lines.push(`call ${call.name} ${JSON.stringify(call.input)}`)
  if (stop === 'max_tokens' || stop === 'refusal') lines.push(`stop: ${stop}`)
  if (fail !== undefined) lines.push(`fail: ${fail === 'context_overflow' ? 'overflow' : fail}`)
  return { model, messages: [userText(lines.join('\n'))], [Symbol.asyncDispose]: async () => {} }
})

void describe('offline model', () => {
  void it('does the steps in order and then says what came out', async () => {
    const plan = [
      'Please do this:',
      'say: First I write.',
      'write a.py: <<END',
      "print('hi')",
      '',
      'END',
      'write b.txt:',
      'two',
      'lines',
      '',
      'read b.txt',
      'call bash {"command": "echo a: b"}',
      'say: Then I run.',
      'run: python3 a.py',
    ].join('\n')
    const { calls, said } = await play(plan, ['', '', 'two lines', 'a: b', 'hi'])
    assert.deepEqual(calls, [
      ['write', { file_path: 'a.py', content: "print('hi')\n\n" }],
      ['write', { file_path: 'b.txt', content: 'two\nlines\n' }],
      ['read', { file_path: 'b.txt' }],
      ['bash', { command: 'echo a: b' }],
      ['bash', { command: 'python3 a.py' }],
    ])
    assert.deepEqual(said.slice(0, 2), ['First I write.', 'Then I run.'])
    assert.match(said[2] ?? '', /two lines[^]*a: b[^]*hi/)
  })

  void it('gives the same answer to the same history', async () => {
    const { messages } = await play('run: a\nrun: b', ['1', '2'])
    const upTo = messages.slice(0, -2)
    assert.deepEqual(
      await readModelAnswer(model, upTo, { tools }),
      await readModelAnswer(model, upTo, { tools }),
    )
  })

  void it('calls every step by an id of its own', async () => {
    const { messages } = await play('run: a\nrun: b', ['1', '2'])
    const ids = messages.flatMap((each) => (each.role === 'tool_result' ? [each.tool_call_id] : []))
    assert.equal(new Set(ids).size, 2)
  })

  void it('thinks in the open', async () => {
    const { blocks } = await readModelAnswer(model, [userText('think: Hm, let me see.\nsay: Yes.')])
    assert.deepEqual(blocks, [
      { type: 'thinking', text: 'Hm, let me see.' },
      { type: 'text', text: 'Yes.' },
    ])
  })

  void it('fails as the message asks, after the steps before it', async () => {
    const { calls, last } = await play('run: a\nfail: overflow', ['1'])
    assert.equal(calls.length, 1)
    assert.equal(last?.type === 'failed' && last.failure.kind, 'context_overflow')
    const overloaded = await readModelAnswer(model, [userText('fail: overloaded')])
    assert.equal(overloaded.last?.type === 'failed' && overloaded.last.failure.retryable, true)
  })

  void it('stops as the message asks', async () => {
    const { last } = await readModelAnswer(model, [userText('say: No.\nstop: refusal')])
    assert.equal(last?.type === 'end' && last.stop, 'refusal')
  })

  void it('says so when it has no tool of that name', async () => {
    const { last, said } = await play('call fly {}\nrun: a', ['1'])
    assert.equal(last?.type, 'end')
    assert.match(said.join(''), /no tool named fly; I have: bash, write, read/)
  })

  void it('explains what is wrong with a command', async () => {
    for (const text of [
      'call bash {"command"',
      'fail: somehow',
      'write: x',
      'wait: long',
      'stop: it',
    ]) {
      const { blocks } = await readModelAnswer(model, [userText(text)], { tools })
      assert.match(JSON.stringify(blocks), /I cannot do that/, text)
    }
  })

  void it('teaches its language to anyone who speaks another', async () => {
    for (const text of ['Hello there!', 'What do you read: books?', '', 'please run this']) {
      const { blocks, last } = await readModelAnswer(model, [userText(text)], { tools })
      assert.match(JSON.stringify(blocks), /run: python3/, text)
      assert.equal(last?.type === 'end' && last.stop, 'end_turn')
    }
  })

  void it('counts tokens, and those it has seen before as cached', async () => {
    const first = await readModelAnswer(model, [userText('say: one two three')])
    assert.ok(first.last?.type === 'end' && first.last.usage.output_tokens > 0)
    assert.ok(first.last.usage.input_tokens > 0)
    const { last } = await readModelAnswer(model, [
      userText('say: one two three'),
      { role: 'assistant', content: first.blocks, origin: model.origin },
      userText('say: four'),
    ])
    assert.ok(last?.type === 'end' && last.usage.cache_read_input_tokens > 0)
  })

  void it('ends at once when aborted, between words and while it waits', async () => {
    for (const text of ['say: one two three', 'say: one\nwait: 60000']) {
      const abort = new AbortController()
      const events: ModelEvent[] = []
      setImmediate(() => abort.abort())
      const call = { system: '', messages: [userText(text)], tools: [], signal: abort.signal }
      for await (const event of model.stream(call)) {
        events.push(event)
        if (event.type === 'delta') abort.abort()
      }
      const last = events.at(-1)
      assert.equal(last?.type === 'failed' && last.failure.kind, 'aborted')
    }
  })
})

void it('thinks before it answers a message, and not before it goes on from a result', async () => {
  const slow = offlineModel({ thinkMs: 60_000 })
  const stop = new AbortController()
  const reading = readModelAnswer(slow, [userText('say: hello')], { signal: stop.signal })
  await new Promise((resolve) => setTimeout(resolve, 5))
  stop.abort()
  const { events, last } = await reading
  assert.equal(events.length, 1)
  assert.ok(last?.type === 'failed' && last.failure.kind === 'aborted')
  const call = { type: 'tool_call' as const, id: 'c', name: 'bash', input: { command: 'ls' } }
  const content = [{ type: 'text' as const, text: 'a file' }]
  const result = { tool_call_id: 'c', tool_name: 'bash', content, is_error: false }
  const gone = await readModelAnswer(slow, [
    userText('run: ls'),
    { role: 'assistant', content: [call], origin: slow.origin },
    { role: 'tool_result', ...result },
  ])
  assert.equal(gone.last?.type, 'end')
})
