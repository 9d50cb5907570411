import assert from 'node:assert/strict'
import { describe, it, mock } from 'node:test'
import { stubKey, readModelAnswer, userText } from '../stubs/read-answer.ts'
import { openaiChatDialect } from '../stubs/stub-openai-chat.ts'
import { startStub } from '../stubs/stub-server.ts'
import type { ModelEvent } from '../model.ts'
import { openModel } from '../wire.ts'
import { callWire } from './call.ts'
import {
  type AssistantMessage,
  type AssistantMessageEvent,
  type WireLibrary,
  loadLibrary,
} from './pi.ts'

const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 }
const usage = { input: 3, output: 7, cacheRead: 0, cacheWrite: 0, totalTokens: 10, cost }
const partial: AssistantMessage = {
  ...{ role: 'assistant', content: [{ type: 'text', text: '' }], timestamp: 0 },
  ...{ api: 'openai-completions', provider: 'acme', model: 'm', usage, stopReason: 'pending' },
}

/** An endpoint that says a word whenever `say` is called, and never ends. */
async function steady() {
  let say = () => {}
  async function* words(): AsyncGenerator<AssistantMessageEvent> {
    const about = { contentIndex: 0, partial }
    yield { type: 'text_start', ...about }
    for (;;) {
      await new Promise<void>((resolve) => (say = resolve))
      yield { type: 'text_delta', ...about, delta: 'word ' }
    }
  }
  const known = await loadLibrary('openai-completions')
  // The library's stream is a class. The code under test only iterates the stream.
  const streamSimple = () => words() as never
  const library: WireLibrary = { ...known, streams: { ...known.streams, streamSimple } }
  return { library, say: () => say() }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

void describe('an answer that comes steadily and never ends', () => {
  void it('is given up after its time, and is not to be asked for again', async () => {
    const { library, say } = await steady()
    mock.timers.enable({ apis: ['setTimeout'] })
    try {
      const spec = {
        ...{ provider: 'acme', api: 'openai-completions', model: 'm', api_key: 'k' },
        ...{ base_url: 'http://127.0.0.1:1', answerTimeoutMs: 120_000 },
      }
      const call = {
        ...{ system: '', messages: [userText('Hi')], tools: [] },
        signal: new AbortController().signal,
      }
      let words = 0
      const reading = (async () => {
        for await (const event of callWire('openai-completions', spec, async () => library, call)) {
          if (event.type === 'delta') words++
          if (event.type === 'failed') return event
        }
        return undefined
      })()
      for (let second = 0; second < 130; second++) {
        await settled()
        say()
        await settled()
        mock.timers.tick(1_000)
      }
      const last = await reading
      assert.deepEqual(last?.failure, {
        ...{ kind: 'request_failed', retryable: false },
        message: 'The answer took longer than 2 minutes',
      })
      assert.equal(last.usage.output_tokens, 7)
      assert.equal(words, 120)
    } finally {
      mock.timers.reset()
    }
  })
})

void describe('an answer whose content is too long', () => {
  void it('is given up at 8 Mi characters, and is not to be asked for again', async () => {
    const delta = 'x'.repeat(1024 * 1024)
    const about = { contentIndex: 0, partial }
    async function* pieces(): AsyncGenerator<AssistantMessageEvent> {
      yield { type: 'text_start', ...about }
      for (let sent = 0; sent < 10; sent++) yield { type: 'text_delta', ...about, delta }
    }
    const known = await loadLibrary('openai-completions')
    // The library's stream is a class. The code under test only iterates the stream.
    const streamSimple = () => pieces() as never
    const library: WireLibrary = { ...known, streams: { ...known.streams, streamSimple } }
    const spec = {
      ...{ provider: 'acme', api: 'openai-completions', model: 'm', api_key: 'k' },
      base_url: 'http://127.0.0.1:1',
    }
    const call = {
      ...{ system: '', messages: [userText('Hi')], tools: [] },
      signal: new AbortController().signal,
    }
    let characters = 0
    let last: ModelEvent | undefined
    for await (const event of callWire('openai-completions', spec, async () => library, call)) {
      if (event.type === 'delta') characters += event.delta.length
      last = event
    }
    assert.equal(characters, 8 * delta.length)
    assert.ok(last?.type === 'failed')
    assert.deepEqual([last.failure.kind, last.failure.retryable], ['request_failed', false])
    assert.match(last.failure.message, /longer than 8388608 characters/)
  })
})

void describe('the counts of an answer', () => {
  void it('are whole tokens, whatever the endpoint sends', async () => {
    await using stub = await startStub(openaiChatDialect)
    const api = { provider: 'acme', api: 'openai-completions', model: 'm' } as const
    for (const sent of [-5, 1.5, 1e300, 2 ** 62, '7', 'many', {}, [9], true, null] as number[]) {
      const usage = { input: sent, output: sent, cacheRead: sent }
      stub.replies({ blocks: [{ type: 'text', pieces: ['Hi'] }], stop: 'end_turn', usage })
      const { last } = await readModelAnswer(
        openModel({ ...api, base_url: stub.url, api_key: stubKey }),
        [userText('Hi')],
      )
      const counts = last?.type === 'end' ? Object.values(last.usage) : assert.fail()
      for (const count of counts)
        assert.ok(
          Number.isSafeInteger(count) && count >= 0 && count <= 1e8,
          `${String(sent)}: ${count}`,
        )
    }
  })
})
