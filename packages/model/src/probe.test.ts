import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Usage } from './model.ts'
import { probeModel } from './probe.ts'
import type { ModelSpec } from './spec.ts'
import { stubKey } from './stubs/read-answer.ts'
import { anthropicDialect } from './stubs/stub-anthropic.ts'
import { openaiChatDialect } from './stubs/stub-openai-chat.ts'
import { startStub } from './stubs/stub-server.ts'

const spec = (base_url: string): ModelSpec => ({
  provider: 'anthropic',
  api: 'anthropic-messages',
  model: 'm',
  base_url,
  api_key: stubKey,
})

void describe('probe', () => {
  void it('is content with any answer', async () => {
    await using anthropic = await startStub(anthropicDialect)
    await using chat = await startStub(openaiChatDialect)
    for (const stub of [anthropic, chat]) {
      stub.replies({ blocks: [{ type: 'text', pieces: ['OK'] }], stop: 'max_tokens' })
    }
    const told: Usage[] = []
    const onUsage = (usage: Usage) => void told.push(usage)
    assert.deepEqual(await probeModel(spec(anthropic.url), { onUsage }), {
      ok: true,
      url: `${anthropic.url}/v1/messages`,
    })
    assert.deepEqual(
      told.map(({ output_tokens }) => output_tokens > 0),
      [true],
    )
    const compatible = { provider: 'oai-compatible', api: 'openai-completions' }
    assert.equal((await probeModel({ ...spec(chat.url), ...compatible })).ok, true)
    assert.equal(anthropic.requests[0]?.body.max_tokens, 16)
  })

  void it('says what is wrong with a key, without the key', async () => {
    await using stub = await startStub(anthropicDialect)
    stub.replies({ status: 401, error: 'authentication_error', message: `invalid ${stubKey}` })
    const result = await probeModel(spec(stub.url))
    assert.deepEqual(result, {
      ok: false,
      url: `${stub.url}/v1/messages`,
      status: 401,
      message: `invalid ${'*'.repeat(stubKey.length)}`,
    })
  })

  void it('does not wait for ever', async () => {
    await using stub = await startStub(anthropicDialect)
    stub.replies('hang')
    const result = await probeModel(spec(stub.url), { timeoutMs: 50 })
    assert.ok(result.ok === false && result.message === 'No answer within 0.05 s')
    const signal = AbortSignal.abort()
    assert.equal((await probeModel(spec(stub.url), { signal })).ok, false)
  })

  void it('asks no other provider by itself', async () => {
    const result = await probeModel({ ...spec('http://127.0.0.1:1'), provider: 'acme' })
    assert.ok(result.ok === null && result.reason === 'unsupported_provider')
    assert.match(result.message, /the card runs, and POST .*\/probe tries it/)
    const wanted = { ...spec('http://127.0.0.1:1'), provider: 'acme' }
    assert.equal((await probeModel(wanted, { isWanted: true })).ok, false)
  })

  void it('does not throw at a spec that makes no sense', async () => {
    assert.equal((await probeModel(spec('nowhere'))).ok, false)
    assert.equal((await probeModel({ ...spec('http://127.0.0.1:1'), api: 'smoke' })).ok, false)
  })
})
