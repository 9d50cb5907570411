/** The surroundings of the process: environment variables and network. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import { Agent, buildConnector, getGlobalDispatcher, setGlobalDispatcher } from 'undici'
import { openModel } from '../wire.ts'
import { stubKey, readModelAnswer, userText } from '../stubs/read-answer.ts'
import { anthropicDialect } from '../stubs/stub-anthropic.ts'
import { googleDialect } from '../stubs/stub-google.ts'
import { openaiChatDialect } from '../stubs/stub-openai-chat.ts'
import { openaiResponsesDialect } from '../stubs/stub-openai-responses.ts'
import { startStub } from '../stubs/stub-server.ts'

const dialects = Object.entries({
  'anthropic-messages': anthropicDialect,
  'openai-completions': openaiChatDialect,
  'openai-responses': openaiResponsesDialect,
  'google-generative-ai': googleDialect,
})

void describe('dialling', () => {
  void it('goes through the global dispatcher on every wire, and a refusal there is distinguished', async () => {
    const before = getGlobalDispatcher()
    const connect = buildConnector({})
    const dialled: string[] = []
    let refuse = false
    const guard = new Agent({
      connect(options, callback) {
        dialled.push(options.hostname)
        if (!refuse) return connect(options, callback)
        const error = new Error('127.0.0.1 is a private address')
        callback(Object.assign(error, { code: 'EREFUSEDADDRESS' }), null)
      },
    })
    setGlobalDispatcher(guard)
    try {
      for (const [api, dialect] of dialects) {
        await using stub = await startStub(dialect)
        stub.replies({ blocks: [{ type: 'text', pieces: ['Hi'] }], stop: 'end_turn' })
        const spec = { provider: 'acme', api, model: 'm', base_url: stub.url, api_key: stubKey }
        refuse = false
        dialled.length = 0
        assert.equal((await readModelAnswer(openModel(spec), [userText('Hi')])).last?.type, 'end')
        assert.deepEqual(dialled, ['127.0.0.1'], api)
        refuse = true
        const base_url = stub.url.replace('127.0.0.1', 'localhost')
        const { last } = await readModelAnswer(openModel({ ...spec, base_url }), [userText('Hi')])
        assert.ok(last?.type === 'failed')
        assert.deepEqual([last.failure.kind, last.failure.retryable], ['refused_address', false])
        assert.match(last.failure.message, /private address/)
      }
    } finally {
      setGlobalDispatcher(before)
      await guard.destroy()
    }
  })
})

void describe('the environment of the host', () => {
  void it('has no effect on a call', async () => {
    const poison = {
      ANTHROPIC_API_KEY: 'ambient',
      ANTHROPIC_AUTH_TOKEN: 'ambient',
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:1',
      ANTHROPIC_CUSTOM_HEADERS: 'x-ambient: ambient',
      ANTHROPIC_LOG: 'debug',
      OPENAI_API_KEY: 'ambient',
      OPENAI_ADMIN_KEY: 'ambient',
      OPENAI_BASE_URL: 'http://127.0.0.1:1',
      OPENAI_CUSTOM_HEADERS: 'x-ambient: ambient',
      OPENAI_LOG: 'debug',
      OPENAI_ORG_ID: 'ambient',
      OPENAI_PROJECT_ID: 'ambient',
      GEMINI_API_KEY: 'ambient',
      GOOGLE_API_KEY: 'ambient',
      GOOGLE_APPLICATION_CREDENTIALS: '/nowhere/ambient.json',
      GOOGLE_CLOUD_LOCATION: 'ambient',
      GOOGLE_CLOUD_PROJECT: 'ambient',
      GOOGLE_GEMINI_BASE_URL: 'http://127.0.0.1:1',
      GOOGLE_GENAI_USE_ENTERPRISE: 'true',
      GOOGLE_GENAI_USE_VERTEXAI: 'true',
      AWS_ACCESS_KEY_ID: 'ambient',
      AWS_SECRET_ACCESS_KEY: 'ambient',
      AZURE_OPENAI_API_KEY: 'ambient',
      PI_CACHE_RETENTION: 'long',
      HTTP_PROXY: 'http://127.0.0.1:1',
    }
    const program = `
      const { openModel } = await import('./wire.ts')
      const content = [{ type: 'text', text: 'Hi' }]
      const call = { system: 's', tools: [], cacheKey: 'c', messages: [{ role: 'user', content }] }
      const signal = AbortSignal.timeout(10_000)
      for (const spec of JSON.parse(process.argv[1])) {
        for await (const event of openModel(spec).stream({ ...call, signal })) {
          if (event.type === 'failed') throw new Error(event.failure.message)
        }
      }
      if (process.argv[2] !== process.env.OPENAI_ORG_ID) throw new Error('the variable is not back')`
    const stubs = await Promise.all(dialects.map(([, dialect]) => startStub(dialect)))
    const specs = stubs.map((stub, i) => {
      stub.replies({ blocks: [{ type: 'text', pieces: ['Hi'] }], stop: 'end_turn' })
      const api = dialects[i]?.[0]
      return { provider: 'openai', api, model: 'm', base_url: stub.url, api_key: stubKey }
    })
    const run = async (env: Record<string, string>, kept: string[]) =>
      await promisify(execFile)(
        process.execPath,
        ['--input-type=module', '-e', program, JSON.stringify(specs), ...kept],
        { cwd: new URL('..', import.meta.url), env: { PATH: '/usr/bin:/bin', ...env } },
      )
    await run({}, [])
    const { stdout, stderr } = await run(poison, [poison.OPENAI_ORG_ID])
    for (const stub of stubs) {
      const [clean, poisoned] = stub.requests
      assert.ok(clean !== undefined)
      assert.deepEqual(poisoned, clean)
      assert.doesNotMatch(JSON.stringify(poisoned), /ambient/)
      await stub[Symbol.asyncDispose]()
    }
    assert.deepEqual([stdout, stderr], ['', ''])
  })
})
