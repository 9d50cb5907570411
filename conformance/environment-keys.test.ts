/**
 * An environment key that reaches sessions opens the routes of a claim's token while the claim lasts, except memory
 * stores.
 */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { systemClock } from '@steward/base/time.ts'
import { uploadFile } from './files.ts'
import type { LooseBody, TestService } from './service.ts'
import { boot, scenarioDatabases } from './service.ts'
import { skillText } from './skills.ts'
import { fresh, message } from './turns.ts'
import { verifies } from './verifies.ts'
import type { WorkerPool } from './workers.ts'
import { claimedSession, newPool, credentialRoutes, poll, sessionIn } from './workers.ts'

const beta = { 'vendor-beta': 'agent-memory-2026-07-22' }

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`environment keys that reach sessions on ${database}`, () => {
    let service: TestService
    let passed = 0
    before(async () => {
      const clock = { ...systemClock, now: () => Date.now() + passed }
      const env = { WORKER_INPUTS: 'files' }
      service = await boot(database, { env, overrides: { clock } })
    })
    after(() => service.close())

    type ReachKey = LooseBody & { key: string; reach: unknown }
    const make = (body: object) => service.ask<ReachKey>('POST', '/v1/ext/api_keys', body)
    const reaching = async ({ environment: environment_id }: WorkerPool): Promise<string> =>
      (await make({ name: fresh('worker'), environment_id, reach: 'sessions' })).body.key

    async function asked(method: string, path: string, by: string, body?: unknown) {
      const headers = { ...beta, 'x-api-key': '', authorization: `Bearer ${by}` }
      const answer = await service.raw(method, path, body, headers)
      const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream')
      if (isStream) await answer.body?.cancel()
      return { status: answer.status, text: isStream ? '' : await answer.text() }
    }
    const status = async (...ask: Parameters<typeof asked>) => (await asked(...ask)).status

    verifies(
      ['auth/environment-key/reach-default', 'api-keys/field/reach', 'auth/environment-key/create'],
      'a key says how far it reaches, and only an environment key reaches anywhere',
      async () => {
        const { environment: environment_id } = await newPool(service)
        const name = 'a worker'
        const reachOf = async (body: object) => (await make({ name, ...body })).body.reach
        assert.equal(await reachOf({ environment_id }), 'work')
        assert.equal(await reachOf({ environment_id, reach: 'work' }), 'work')
        assert.equal(await reachOf({ environment_id, reach: 'sessions' }), 'sessions')
        assert.equal(await reachOf({}), null)
        const listed = await service.ask<{ data: ReachKey[] }>('GET', '/v1/ext/api_keys?limit=1000')
        assert.deepEqual(
          listed.body.data.slice(0, 4).map(({ reach }) => reach),
          [null, 'sessions', 'work', 'work'],
        )
        const refused = await make({ name, reach: 'sessions' })
        assert.equal(refused.status, 400)
        assert.match(JSON.stringify(refused.body), /reach: .*environment_id/)
        assert.equal((await make({ name, environment_id, reach: 'all' })).status, 400)
        const { body: plain } = await make({ name })
        const wanted = { name, environment_id, reach: 'sessions' }
        const by = { 'x-api-key': plain.key }
        assert.equal((await service.ask('POST', '/v1/ext/api_keys', wanted, by)).status, 403)
      },
    )

    /** Creates a session with a file, a skill and a memory store, and claims its work item with a poll. */
    async function claimed(pool: WorkerPool) {
      const files = [{ filename: 'SKILL.md', content: skillText('one', 'd', 'body') }]
      const skill = (await service.ask('POST', '/v1/skills', { files })).body.id
      const store = (await service.ask('POST', '/v1/memory_stores', { name: fresh('s') }, beta))
        .body.id
      const file = await uploadFile(service)
      const skills = [{ type: 'custom', skill_id: skill, version: 'latest' }]
      const resources = [
        { type: 'memory_store', memory_store_id: store, access: 'read_write' },
        { type: 'file', file_id: file.id },
      ]
      const session = await sessionIn(service, pool, { skills }, { resources })
      const item = await poll(service, pool, '?reclaim_older_than_ms=600000')
      assert.equal(item?.data.id, session)
      const { body } = await service.ask('GET', `/v1/sessions/${session}`)
      const own = (body['resources'] as { file_id?: string }[]).find(({ file_id }) => file_id)
      const { sessions_token: token } = JSON.parse(
        Buffer.from(item.secret, 'base64url').toString(),
      ) as { sessions_token: string }
      return { session, work: item.id, token, skill, store, file: own?.file_id ?? '' }
    }

    verifies(
      'auth/environment-key/reach',
      'the key opens every route that the token of the claim opens, and no route of memory stores',
      async () => {
        const pool = await newPool(service)
        const key = await reaching(pool)
        const mine = await claimed(pool)
        const ids = {
          '/v1/sessions/:id': mine.session,
          '/v1/environments/:id': pool.environment,
          '/v1/environments/:id/work/:work': mine.work,
          '/v1/skills/:id': mine.skill,
          '/v1/skills/:id/versions/:version': 'latest',
          '/v1/files/:id': mine.file,
          '/v1/memory_stores/:id': mine.store,
          '/v1/ext/inputs/:session_id/stores/:store': mine.store,
        }
        const opened: string[] = []
        for (const { method, path: template } of await credentialRoutes(service, ids)) {
          const path = template.replace(/^(\/v1\/ext\/[\w-]+)\/another/, `$1/${mine.session}`)
          const name = `${method} ${path}`
          // The walk skips the work routes, which every environment key opens, and a path that answers 404 to
          // everybody.
          if (path.includes('/work') || path.endsWith('/key')) continue
          const byToken = await asked(method, path, mine.token)
          const byKey = await asked(method, path, key)
          const isRefused = byToken.status === 401 || byToken.status === 403
          if (isRefused || path.includes('/stores') || path.includes('/memory_stores')) {
            assert.equal(byKey.status, 401, `${name}: ${byKey.text}`)
            if (!isRefused) assert.match(byKey.text, /memory stores are open to the sessions_token/)
          } else {
            opened.push(name)
            assert.equal(byKey.status, byToken.status, `${name}: ${byKey.text}`)
          }
        }
        for (const some of [
          `GET /v1/sessions/${mine.session}`,
          `GET /v1/sessions/${mine.session}/events/stream`,
          `POST /v1/sessions/${mine.session}/events`,
          `GET /v1/skills/${mine.skill}/versions/latest`,
          `GET /v1/files/${mine.file}`,
          `GET /v1/ext/inputs/${mine.session}/files`,
        ])
          assert.ok(opened.includes(some), `${some} is not among ${opened.join(', ')}`)
      },
    )

    verifies(
      ['auth/environment-key/reach', 'events/post/tool-result'],
      'the key posts results of tools, and cannot post messages',
      async () => {
        const pool = await newPool(service)
        const key = await reaching(pool)
        const mine = await claimedSession(service, pool, `run: echo ${fresh('hi')}`)
        const path = `/v1/sessions/${mine.session}/events`
        assert.equal(await status('POST', path, key, { events: [message('say: x')] }), 403)
        const result = { type: 'user.tool_result', tool_use_id: await mine.call(), content: [] }
        assert.equal(await status('POST', path, key, { events: [result] }), 202)
      },
    )

    verifies(
      ['auth/environment-key/reach-live', 'auth/environment-key/own-environment'],
      'the key opens no session without a claim, of another environment or of another workspace',
      async () => {
        const pool = await newPool(service)
        const key = await reaching(pool)
        const refusal = async (session: string) => {
          const { status: code, text } = await asked('GET', `/v1/sessions/${session}/events`, key)
          assert.equal(code, 401)
          return text.replace(/req_\w+/, '')
        }
        const never = await refusal('sesn_000000000000000000000000')
        const session = await sessionIn(service, pool)
        assert.equal(await refusal(session), never, 'queued')
        const item = await poll(service, pool)
        assert.ok(item)
        const read = () => status('GET', `/v1/sessions/${session}`, key)
        assert.equal(await read(), 200, 'handed out')
        const at = `${pool.path}/work/${item.id}`
        assert.equal(await status('POST', `${at}/ack`, key), 409, 'another worker has it')
        assert.equal(await status('POST', `${at}/ack`, pool.key), 200)
        assert.equal(await read(), 200, 'acknowledged')
        passed += 91_000
        assert.equal(await read(), 401, 'its lease ran out')
        assert.equal(await status('POST', `${at}/heartbeat`, key), 200)
        assert.equal(await read(), 200, 'late, and nobody else has it')
        assert.equal(await status('POST', `${at}/stop`, key, { force: true }), 200)
        assert.equal(await refusal(session), never, 'stopped')
        const other = await newPool(service)
        assert.equal(await refusal((await claimedSession(service, other)).session), never)
        const { key: admin } = await service.otherWorkspace(fresh('other'))
        const foreign = { 'x-api-key': admin }
        const config = { type: 'self_hosted' }
        const made = await service.ask('POST', '/v1/environments', { name: 'p', config }, foreign)
        const named = { name: 'w', environment_id: made.body.id, reach: 'sessions' }
        const theirs = await service.ask<ReachKey>('POST', '/v1/ext/api_keys', named, foreign)
        const mine = await claimedSession(service, pool)
        const { status: code } = await asked('GET', `/v1/sessions/${mine.session}`, theirs.body.key)
        assert.equal(code, 401)
      },
    )

    verifies(
      'auth/environment-key/reach',
      'a stream that the key follows ends with the claim',
      async () => {
        const pool = await newPool(service)
        const key = await reaching(pool)
        const mine = await claimedSession(service, pool)
        const path = `/v1/sessions/${mine.session}/events/stream`
        const headers = { 'x-api-key': '', authorization: `Bearer ${key}` }
        const stream = await service.raw('GET', path, undefined, headers)
        assert.equal(stream.status, 200)
        await status('POST', `${pool.path}/work/${mine.work}/stop`, key, { force: true })
        await stream.text()
      },
    )

    verifies(
      'auth/environment-key/nothing-else',
      'the refusal of a plain environment key names both ways to a session, if there is one',
      async () => {
        const pool = await newPool(service)
        const { session } = await claimedSession(service, pool)
        const told = (path: string) => asked('GET', path, pool.key)
        const own = await told(`/v1/sessions/${session}`)
        assert.equal(own.status, 401)
        assert.match(own.text, /sessions_token in the secret of the work item/)
        assert.match(own.text, /reach\\": \\"sessions/)
        const none = await told('/v1/agents')
        assert.equal(none.status, 401)
        assert.doesNotMatch(none.text, /sessions_token/)
      },
    )
  })
}
