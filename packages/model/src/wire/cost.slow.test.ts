/** What an answer costs: as much as it is long, whatever its pieces are. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { collectGarbage, processorMs } from '@steward/base/cost-fixture.ts'
import type { ModelEvent } from '../model.ts'
import { stubKey, userText } from '../stubs/read-answer.ts'
import { anthropicDialect } from '../stubs/stub-anthropic.ts'
import { googleDialect } from '../stubs/stub-google.ts'
import { openaiChatDialect } from '../stubs/stub-openai-chat.ts'
import { openaiResponsesDialect } from '../stubs/stub-openai-responses.ts'
import { startStub, type StubBlock, type StubDialect } from '../stubs/stub-server.ts'
import { type ModelWire, modelWires } from '../spec.ts'
import { openModel } from '../wire.ts'
import { growingText } from './growing-text.ts'
import { createMailbox } from './mailbox.ts'

const dialects: Record<ModelWire, StubDialect> = {
  'anthropic-messages': anthropicDialect,
  'openai-completions': openaiChatDialect,
  'openai-responses': openaiResponsesDialect,
  'google-generative-ai': googleDialect,
}
const kinds = ['text', 'thinking', 'tool_call'] as const

function blockOf(kind: (typeof kinds)[number], length: number): StubBlock {
  const pieces = Array.from({ length: length / 4 }, (_, n) => String(1_000 + (n % 9_000)))
  if (kind === 'text') return { type: kind, pieces }
  if (kind === 'thinking') return { type: kind, pieces, signature: 'signed' }
  return { type: kind, id: 'call|fc', name: 'bash', pieces: ['{"command":"', ...pieces, '"}'] }
}

/** Milliseconds of processor for an answer, with the stub that sends it, and the bytes that its events hold. */
async function costOf(api: ModelWire, kind: (typeof kinds)[number], length: number) {
  await using stub = await startStub(dialects[api])
  const body = dialects[api].frames({ blocks: [blockOf(kind, length)], stop: 'end_turn' }).join('')
  stub.replies({ body, contentType: 'text/event-stream' })
  const spec = { provider: 'acme', api, model: 'm', api_key: stubKey, base_url: stub.url }
  const call = { system: '', messages: [userText('Hi')], tools: [] }
  const kept: ModelEvent[] = []
  const before = processorMs()
  const { signal } = new AbortController()
  for await (const event of openModel(spec).stream({ ...call, signal })) kept.push(event)
  const ms = processorMs() - before
  const read = kept.reduce(
    (sum, event) => sum + (event.type === 'delta' ? event.delta.length : 0),
    0,
  )
  assert.ok(read >= length)
  assert.ok(kept.at(-1)?.type === 'end')
  return { ms, kept }
}

for (const api of modelWires) {
  void describe(`a long answer in pieces of four over ${api}`, () => {
    for (const kind of kinds) {
      void it(`costs twice as much when its ${kind} is twice as long`, async () => {
        await costOf(api, kind, 20_000)
        const ratios: number[] = []
        // Another program may take the processor's caches in the midst of one measurement.
        do {
          const half = await costOf(api, kind, 100_000)
          const whole = await costOf(api, kind, 200_000)
          ratios.push(whole.ms / half.ms)
        } while (ratios.length < 3 && Math.min(...ratios) > 3)
        assert.ok(Math.min(...ratios) <= 3, `${ratios.join(', ')} times as much`)
      })
    }

    void it('takes less than a second for 500,000 characters, and less than 100 MB', async () => {
      const spent: number[] = []
      do {
        collectGarbage()
        const before = process.memoryUsage().heapUsed
        const { ms, kept } = await costOf(api, 'text', 500_000)
        collectGarbage()
        const held = process.memoryUsage().heapUsed - before
        assert.ok(kept.length > 0)
        assert.ok(held < 100 * 1024 * 1024, `${held} bytes`)
        spent.push(ms)
      } while (spent.length < 3 && Math.min(...spent) > 1_000)
      assert.ok(Math.min(...spent) < 1_000, `${spent.join(', ')} ms`)
    })
  })
}

void describe('a text that grows', () => {
  void it('is passed on piece by piece, and keeps halves of characters together', () => {
    const text = growingText()
    text.add('a\ud83d')
    assert.equal(text.takeNews(false), 'a')
    text.add('\ude00b\ud83d')
    assert.equal(text.takeNews(false), '😀b')
    assert.equal(text.takeNews(true), '\ufffd')
    assert.equal(text.takeNews(true), '')
    assert.equal(text.whole(), 'a😀b\ufffd')
  })
})

void describe('events that wait for their reader', () => {
  const delta = (text: string): ModelEvent => ({ type: 'delta', index: 0, delta: text })

  void it('are joined while many wait, and lose nothing', async () => {
    const box = createMailbox()
    for (let n = 0; n < 10_000; n++) box.put(delta(`${n},`))
    box.last({ type: 'end', stop: 'end_turn', usage: { ...noTokens } })
    let [count, text] = [0, '']
    for (let event = await box.take(); event; event = await box.take()) {
      count++
      if (event.type === 'delta') text += event.delta
    }
    assert.equal(text, Array.from({ length: 10_000 }, (_, n) => `${n},`).join(''))
    assert.ok(count < 100, `${count} events`)
  })

  void it('hold their writer until they are taken, or nobody reads any more', async () => {
    const box = createMailbox()
    for (let n = 0; n < 200; n++) box.put(delta('x'.repeat(10_000)))
    let hasRoom = false
    const room = box.room().then(() => (hasRoom = true))
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(hasRoom, false)
    for (let n = 0; n < 150; n++) await box.take()
    await room
    for (let n = 0; n < 200; n++) box.put(delta('x'.repeat(10_000)))
    const left = box.room()
    box.close()
    await left
  })
})

const noTokens = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
}
