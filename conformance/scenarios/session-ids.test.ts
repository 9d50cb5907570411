import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { anthropicDialect } from '@steward/model/stubs/stub-anthropic.ts'
import { googleDialect } from '@steward/model/stubs/stub-google.ts'
import { openaiChatDialect } from '@steward/model/stubs/stub-openai-chat.ts'
import { openaiResponsesDialect } from '@steward/model/stubs/stub-openai-responses.ts'
import type { StubDialect, StubRequest } from '@steward/model/stubs/stub-server.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import { says } from '../priced-model.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { fresh, newSession, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

const wires: Record<string, StubDialect> = {
  'anthropic-messages': anthropicDialect,
  'openai-completions': openaiChatDialect,
  'openai-responses': openaiResponsesDialect,
  'google-generative-ai': googleDialect,
}

/** Every way in which the library can send the key of a conversation. */
const compat = {
  'anthropic-messages': { sendSessionAffinityHeaders: true },
  'openai-completions': { sendSessionAffinityHeaders: true, supportsLongCacheRetention: true },
}

/** The requests of two turns of a session, and its id. */
async function requestsOf(service: TestService, api: string) {
  const dialect = wires[api] ?? assert.fail(api)
  await using stub = await startStub(dialect)
  const model_id = fresh('wire').replace(' ', '-')
  stub.replies(says('hello', { input: 1, output: 1 }))
  const { status, body } = await service.ask('POST', '/v1/ext/model_cards', {
    model_id,
    provider: 'some-provider',
    model: 'some-model',
    base_url: stub.url,
    api_key: 'sk-some-key',
    native_config: { api, compat: api in compat ? compat[api as keyof typeof compat] : {} },
  })
  assert.equal(status, 200, JSON.stringify(body))
  const session = await newSession(service, { model: model_id })
  const before = stub.requests.length
  await turn(service, session, 'one')
  await turn(service, session, 'two')
  const requests = stub.requests.slice(before)
  assert.equal(requests.length, 2)
  return { session, requests }
}

const bare = (id: string) => id.slice(id.indexOf('_') + 1)
const keyOf = ({ body, headers }: StubRequest) =>
  body['prompt_cache_key'] ?? headers['x-session-affinity']

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`what providers get to know of sessions on ${database}`, () => {
    verifies(
      'models/requests/session-ids',
      'no wire carries the id of a session, unless a setting says so',
      async () => {
        const [usual, told] = [
          await boot(database),
          await boot(database, { env: { MODEL_SESSION_IDS: 'true' } }),
        ]
        try {
          for (const api of Object.keys(wires)) {
            const { session, requests } = await requestsOf(usual, api)
            assert.ok(!JSON.stringify(requests).includes(bare(session)), api)
            const keys = requests.map(keyOf)
            assert.equal(keys[0], keys[1], 'both turns reach the same prompt cache')
            const known = await requestsOf(told, api)
            const isSent = JSON.stringify(known.requests).includes(bare(known.session))
            assert.equal(isSent, api !== 'google-generative-ai', api)
          }
        } finally {
          await Promise.all([usual.close(), told.close()])
        }
      },
    )
  })
}
