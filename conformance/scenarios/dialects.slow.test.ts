import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { APIError } from '@anthropic-ai/sdk'
import { BadRequestError, ConflictError, InternalServerError } from '@anthropic-ai/sdk'
import { AuthenticationError, NotFoundError, PermissionDeniedError } from '@anthropic-ai/sdk'
import { anthropicDialect } from '@steward/model/stubs/stub-anthropic.ts'
import { openaiChatDialect } from '@steward/model/stubs/stub-openai-chat.ts'
import type { StubAnswer } from '@steward/model/stubs/stub-server.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import type { LooseBody, TestService } from '../service.ts'
import { adminKey, boot, scenarioDatabases } from '../service.ts'
import { fresh, newSession, only, textOf, turn } from '../turns.ts'
import type { SeenEvent } from '../turns.ts'
import { verifies } from '../verifies.ts'

const says = (text: string): StubAnswer => ({
  blocks: [{ type: 'text', pieces: [text] }],
  stop: 'end_turn',
})

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`two dialects, two clients on ${database}`, () => {
    let service: TestService
    let broken = false
    before(async () => {
      service = await boot(database, {
        overrides: {
          database: (built) => ({
            ...built,
            write: (unit) =>
              broken ? Promise.reject(new Error('canary of the inside')) : built.write(unit),
          }),
        },
      })
    })
    after(() => service.close())

    verifies(
      [
        'dialects/error-type',
        'errors/type/not-found',
        'errors/type/invalid-request',
        'errors/body',
      ],
      'each error has its class in the official client, and its word in both dialects',
      async () => {
        const { beta } = service.client
        const environment = await beta.environments.create({ name: fresh('env') })
        const key = await service.ask<{ key: string }>('POST', '/v1/ext/api_keys', { name: 'n' })
        const plain = service.client.withOptions({ apiKey: key.body.key })
        const stranger = service.client.withOptions({ apiKey: 'wrong' })
        const envKey = { body: { name: 'n', environment_id: environment.id } }
        const cases = [
          [() => beta.agents.retrieve('agent_no'), NotFoundError, 'not_found_error'],
          [
            () => beta.agents.create({ name: '', model: 'm' }),
            BadRequestError,
            'invalid_request_error',
          ],
          [
            () => beta.environments.create({ name: environment.name }),
            ConflictError,
            'conflict_error',
          ],
          [() => stranger.beta.agents.list(), AuthenticationError, 'authentication_error'],
          [() => plain.post('/v1/ext/api_keys', envKey), PermissionDeniedError, 'permission_error'],
        ] as const
        for (const [call, type, word] of cases) {
          await assert.rejects(call(), (error: APIError) => {
            assert.ok(error instanceof type)
            assert.equal(error.type, word)
            assert.match(error.requestID ?? '', /^req_/)
            return true
          })
        }
        const missing = await beta.environments.retrieve('env_no').catch((error: unknown) => error)
        assert.equal((missing as APIError).errorCode, 'environment_not_found')
        const word = async (method: string, path: string, body?: object) =>
          ((await service.ask(method, path, body)).body['error'] as LooseBody)['type']
        assert.equal(await word('GET', '/v1/agents/agent_no'), 'not_found')
        assert.equal(
          await word('POST', '/v1/environments', { name: environment.name }),
          'invalid_request',
        )
      },
    )

    verifies(
      ['errors/no-detail', 'errors/type/internal-error'],
      'an unforeseen failure is answered without detail, and logged under the id of the request',
      async () => {
        broken = true
        const made = service.client.beta.agents.create({ name: 'n', model: 'm' })
        const error: unknown = await made.catch((caught: unknown) => caught)
        const body = { name: 'n', model: 'm', tools: [] }
        const ours = await service.ask('POST', '/v1/agents', body)
        broken = false
        assert.ok(error instanceof InternalServerError)
        assert.deepEqual([error.status, error.type], [500, 'api_error'])
        assert.ok(!error.message.includes('canary'))
        assert.equal((ours.body['error'] as LooseBody)['type'], 'internal_error')
        const line = service.logged.find((each) => each.includes(error.requestID ?? '-'))
        assert.match(line ?? '', /canary of the inside/)
      },
    )

    verifies(
      ['http/beta/two-names', 'http/beta/unknown-values', 'versions/beta-not-required'],
      'a beta header, under either name or none, changes nothing',
      async () => {
        const sent: Record<string, string>[] = [
          {},
          { 'anthropic-beta': 'managed-agents-2026-04-01,unheard-of-2030-01-01' },
          { 'vendor-beta': 'unheard-of' },
          { 'anthropic-beta': 'a', 'vendor-beta': 'b , c' },
        ]
        for (const headers of sent) {
          const { status } = await service.ask('GET', '/v1/agents', undefined, headers)
          assert.equal(status, 200)
        }
      },
    )

    verifies(
      ['versions/official-client', 'http/query/beta-ignored'],
      'the oldest client runs a turn and reads it',
      async () => {
        const { beta } = service.oldest
        const agent = await beta.agents.create({ name: 'old', model: 'offline' })
        const environment = await beta.environments.create({ name: fresh('old') })
        const session = await beta.sessions.create({
          agent: agent.id,
          environment_id: environment.id,
        })
        assert.equal(session.status, 'idle')
        const stream = await beta.sessions.events.stream(session.id)
        await beta.sessions.events.send(session.id, {
          events: [{ type: 'user.message', content: [{ type: 'text', text: 'say: hello' }] }],
        })
        const seen: SeenEvent[] = []
        for await (const event of stream) {
          seen.push({ ...event } as SeenEvent)
          if (event.type === 'session.status_idle') break
        }
        assert.equal(textOf(only(seen, 'agent.message')), 'hello')
        const listed = []
        for await (const event of beta.sessions.events.list(session.id, { limit: 3 }))
          listed.push(event.type)
        assert.equal(listed.at(-1), 'session.status_idle')
        const found = []
        for await (const { id } of beta.sessions.list({ limit: 1 })) found.push(id)
        assert.ok(found.includes(session.id))
        await beta.sessions.archive(session.id)
        await beta.environments.archive(environment.id)
        await beta.agents.archive(agent.id)
        assert.equal((await beta.sessions.retrieve(session.id)).status, 'terminated')
      },
    )

    verifies(
      ['sessions/field/status', 'dialects/session-status', 'dialects/chosen-by-header'],
      'the status is written in the words of the dialect, in lists too',
      async () => {
        const id = await newSession(service)
        const client = { 'anthropic-version': '2023-06-01' }
        const path = `/v1/sessions/${id}`
        const words = async (headers: Record<string, string>) => {
          const one = (await service.ask('GET', path, undefined, headers)).body['status']
          const list = (await service.ask('GET', '/v1/sessions', undefined, headers)).body.data
          return [one, list.find((each) => each.id === id)?.['status']]
        }
        assert.deepEqual(await words({}), ['pending', 'pending'])
        assert.deepEqual(await words(client), ['idle', 'idle'])
      },
    )

    verifies(
      ['dialects/event-data', 'dialects/run-started'],
      'events are those that the client knows, with each field once',
      async () => {
        const id = await newSession(service)
        const seen = await turn(service, id, 'say: hello')
        const started = 'session.status_run_started'
        const { data } = await service.client.beta.sessions.events.list(id)
        assert.deepEqual(data, seen)
        assert.ok(seen.every((event) => !('data' in event) && event.type !== started))
        const { body } = await service.ask('GET', `/v1/sessions/${id}/events`)
        assert.deepEqual(body.data[0]?.['type'], started)
        assert.ok(body.data.every((event) => 'data' in event))
        const client = { 'anthropic-version': '2026-10-21' }
        const named = `/v1/sessions/${id}/events?types[]=${started}`
        const asked = await service.ask('GET', named, undefined, client)
        assert.deepEqual(
          asked.body.data.map(({ type }) => type),
          [started],
        )
      },
    )

    verifies(
      ['dialects/metadata-text', 'agents/metadata/compaction-keys'],
      'metadata of an agent is text to the client, which may send it back',
      async () => {
        const metadata = { compaction_trigger_fraction: 0.5, many: [1, 2], word: 'x' }
        const body = { name: fresh('agent'), model: 'offline', tools: [], metadata }
        const { id } = (await service.ask('POST', '/v1/agents', body)).body
        const shown = await service.client.beta.agents.retrieve(id)
        const text = { compaction_trigger_fraction: '0.5', many: '[1,2]', word: 'x' }
        assert.deepEqual(shown.metadata, text)
        const { version } = await service.client.beta.agents.update(id, { metadata: text })
        assert.equal(version, 1)
        const kept = await service.ask('GET', `/v1/agents/${id}`)
        assert.deepEqual(kept.body['metadata'], metadata)
        const typed = { compaction_trigger_fraction: '0.7' }
        const changed = await service.client.beta.agents.update(id, { metadata: typed })
        assert.equal(changed.metadata['compaction_trigger_fraction'], '0.7')
        const { id: session } = await service.client.beta.sessions.create({
          agent: id,
          environment_id: (await service.client.beta.environments.create({ name: fresh('e') })).id,
        })
        const { agent } = await service.client.beta.sessions.retrieve(session)
        assert.equal(Reflect.get(agent, 'metadata').many, '[1,2]')
      },
    )

    verifies(
      'auth/workspace-header',
      'a request that names another workspace than its key is refused',
      async () => {
        const { workspace, key } = await service.otherWorkspace('named')
        const list = (apiKey: string, named: string) =>
          service.client
            .withOptions({ apiKey, defaultHeaders: { 'anthropic-workspace-id': named } })
            .beta.agents.list()
        assert.deepEqual((await list(key, workspace)).data, [])
        await assert.rejects(list(key, 'wrkspc_another'), PermissionDeniedError)
        await assert.rejects(list(adminKey, workspace), PermissionDeniedError)
        const both = (other: string) =>
          service.ask('GET', '/v1/agents', undefined, {
            ...{ 'x-api-key': key, 'anthropic-workspace-id': workspace, 'x-active-tenant': other },
          })
        assert.equal((await both(workspace)).status, 200)
        assert.equal((await both('wrkspc_another')).status, 403)
      },
    )

    verifies(
      'limits/rate/off-by-default',
      'nobody is held back by a limit that nobody set',
      async () => {
        const calls = Array.from({ length: 300 }, () => service.ask('GET', '/v1/agents?limit=1'))
        const statuses = new Set((await Promise.all(calls)).map(({ status }) => status))
        assert.deepEqual(statuses, new Set([200]))
      },
    )

    verifies(
      ['settings/fallback-keys', 'agents/model/string-form', 'model-cards/key/no-ambient'],
      "a model's name needs no card where the operator has a key, and a card goes before it",
      async () => {
        await using anthropic = await startStub(anthropicDialect)
        await using compatible = await startStub(openaiChatDialect)
        anthropic.replies(says('from the operator'))
        compatible.replies(says('from elsewhere'))
        const own = await boot(database, {
          env: {
            ANTHROPIC_API_KEY: 'sk-operator-anthropic',
            ANTHROPIC_BASE_URL: anthropic.url,
            OPENAI_API_KEY: 'sk-operator-openai',
            OPENAI_BASE_URL: compatible.url,
          },
        })
        try {
          const known = 'claude-sonnet-4-5'
          const answer = async (model: unknown) =>
            textOf(only(await turn(own, await newSession(own, { model }), 'hi'), 'agent.message'))
          assert.equal(await answer(known), 'from the operator')
          assert.match(JSON.stringify(anthropic.requests.at(-1)?.headers), /sk-operator-anthropic/)
          assert.equal(await answer('a-model-of-somebody'), 'from elsewhere')
          const card = {
            model_id: known,
            provider: 'oai-compatible',
            model: 'theirs',
            base_url: compatible.url,
            api_key: 'sk-of-the-tenant',
          }
          await own.ask('POST', '/v1/ext/model_cards', card)
          assert.equal(await answer({ id: known }), 'from elsewhere')
          const headers = JSON.stringify(compatible.requests.at(-1)?.headers)
          assert.match(headers, /sk-of-the-tenant/)
          assert.ok(!headers.includes('sk-operator'))
        } finally {
          await own.close()
        }
      },
    )

    verifies(
      ['agents/model/effort-clamped', 'agents/model/speed-fast'],
      'effort goes to the nearest level there is, and fast to what the provider calls it',
      async () => {
        await using stub = await startStub(openaiChatDialect)
        stub.replies(says('OK'))
        const card = {
          model_id: fresh('thinker').replace(' ', '-'),
          provider: 'oai',
          model: 'stub-thinker',
          base_url: stub.url,
          api_key: 'sk-test-0123456789',
          native_config: {
            api: 'openai-completions',
            reasoning: true,
            thinkingLevelMap: {
              low: 'low',
              medium: 'medium',
              high: 'high',
              xhigh: null,
              max: null,
            },
          },
        }
        const made = await service.ask('POST', '/v1/ext/model_cards', card)
        assert.equal(made.status, 200, JSON.stringify(made.body))
        const model = { id: card.model_id, effort: 'max', speed: 'fast' }
        await turn(service, await newSession(service, { model }), 'hi')
        const body = stub.requests.at(-1)?.body
        assert.equal(body?.['reasoning_effort'], 'high')
        assert.equal(body?.['service_tier'], 'priority')
      },
    )
  })
}
