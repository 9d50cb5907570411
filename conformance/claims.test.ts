/** The routes that a worker's token opens: every route is requested with a valid token, and with invalid ones. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { boot, scenarioDatabases } from './service.ts'
import type { TestService } from './service.ts'
import { fresh } from './turns.ts'
import { verifies } from './verifies.ts'
import type { ClaimedSession, WorkerPool } from './workers.ts'
import { claimedSession, newPool, credentialRoutes } from './workers.ts'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`claims on ${database}`, () => {
    let service: TestService
    let pool: WorkerPool
    let claimed: ClaimedSession
    before(async () => {
      service = await boot(database)
      pool = await newPool(service)
      claimed = await claimedSession(service, pool)
    })
    after(() => service.close())

    const status = async (method: string, path: string, token: string, body?: unknown) => {
      const headers = { 'x-api-key': '', authorization: `Bearer ${token}` }
      const answer = await service.raw(method, path, body, {
        ...headers,
        'vendor-beta': 'agent-memory-2026-07-22',
      })
      await answer.body?.cancel()
      return answer.status
    }

    verifies(
      [
        'auth/kinds/claim',
        'auth/claim-token/bound',
        'work/token-reads-session',
        'auth/claim-token/no-file-changes',
      ],
      'a claim opens its session and its work, and no other route',
      async () => {
        const own = new Set([
          `GET /v1/sessions/${claimed.session}`,
          `GET /v1/sessions/${claimed.session}/events`,
          `GET /v1/sessions/${claimed.session}/events/stream`,
          `POST /v1/sessions/${claimed.session}/events`,
          `GET /v1/sessions/${claimed.session}/threads`,
          `POST ${pool.path}/work/${claimed.work}/heartbeat`,
          `POST ${pool.path}/work/${claimed.work}/stop`,
        ])
        const ids = {
          '/v1/sessions/:id': claimed.session,
          '/v1/environments/:id': pool.environment,
          '/v1/environments/:id/work/:work': claimed.work,
        }
        for (const { method, path } of await credentialRoutes(service, ids)) {
          const name = `${method} ${path}`
          if (own.has(name)) continue
          const answered = await status(method, path, claimed.token)
          // A claim opens the threads of its session; the thread of this path does not exist.
          if (name.startsWith(`GET /v1/sessions/${claimed.session}/threads/`)) {
            assert.equal(answered, 404, name)
            continue
          }
          assert.ok(answered === 401 || answered === 403, `${name}: ${answered}`)
        }
        for (const name of own) {
          const [method = '', path = ''] = name.split(' ')
          if (path.endsWith('/stop')) continue
          const body =
            name.startsWith('POST') && path.endsWith('/events') ? { events: [] } : undefined
          const answered = await status(method, path, claimed.token, body)
          assert.ok(answered < 300 || answered === 400, `${name}: ${answered}`)
        }
      },
    )

    verifies(
      ['auth/claim-token/no-other-session', 'auth/claim-token/no-unrelated'],
      'a claim opens nothing of another session, nor a resource that its own session does not name',
      async () => {
        const other = await claimedSession(service, pool)
        const skill = await service.ask('POST', '/v1/skills', {
          files: [{ filename: 'SKILL.md', content: '---\nname: s\ndescription: d\n---\nbody' }],
        })
        for (const path of [
          `/v1/sessions/${other.session}`,
          `/v1/sessions/${other.session}/events`,
          `${pool.path}/work/${other.work}/heartbeat`,
          `/v1/skills/${skill.body.id}/versions/latest`,
          `/v1/ext/mcp-proxy/${other.session}/any`,
        ]) {
          const method = path.endsWith('heartbeat') ? 'POST' : 'GET'
          assert.equal(await status(method, path, claimed.token), 403, path)
        }
      },
    )

    verifies(
      ['auth/kinds/claim', 'auth/claim-token/no-other-session'],
      "a claim is forbidden every route of another worker's session, and of its work",
      async () => {
        const theirs = await newPool(service)
        const { session, work } = await claimedSession(service, theirs)
        const all = await credentialRoutes(service, {
          '/v1/sessions/:id': session,
          '/v1/environments/:id': theirs.environment,
          '/v1/environments/:id/work/:work': work,
        })
        const names = new Set<string>()
        for (const { method, path: template } of all) {
          const path = template.replace(/^(\/v1\/ext\/[\w-]+)\/another/, `$1/${session}`)
          names.add(path)
          assert.equal(await status(method, path, claimed.token), 403, `${method} ${path}`)
        }
        for (const room of [
          'egress',
          'checkpoints',
          'stdio-servers',
          'command-output',
          'model-gateway',
        ])
          assert.ok([...names].some((path) => path.startsWith(`/v1/ext/${room}/${session}`)))
      },
    )

    verifies(
      ['auth/claim-token/header', 'auth/claim-token/checked-live', 'auth/claim-token/never-kept'],
      'a claim is read from Authorization alone, ends with its work, and is kept nowhere',
      async () => {
        const mine = await claimedSession(service, pool)
        const path = `/v1/sessions/${mine.session}`
        const asKey = await service.raw('GET', path, undefined, { 'x-api-key': mine.token })
        assert.equal(asKey.status, 401)
        const [payload = ''] = mine.token.split('.')
        const forged = `${payload}.${'A'.repeat(43)}`
        assert.equal(await status('GET', path, forged), 401)
        assert.equal(await status('GET', path, mine.token), 200)
        assert.equal(
          await status('POST', `${pool.path}/work/${mine.work}/stop`, mine.token, { force: true }),
          200,
        )
        assert.equal(await status('GET', path, mine.token), 401)
        const rows = await service.database.read.selectFrom('work').selectAll().execute()
        const mark = mine.token.split('.')[1] ?? ''
        assert.ok(!JSON.stringify(rows).includes(mark))
        assert.ok(!service.logged.some((line) => line.includes(mark)))
      },
    )

    verifies(
      [
        'auth/environment-key/work',
        'auth/environment-key/own-environment',
        'auth/kinds/environment',
      ],
      'a key of an environment opens its work, and not that of another',
      async () => {
        const other = await newPool(service)
        const headers = { 'x-api-key': '', authorization: `Bearer ${pool.key}` }
        const poll = (path: string) => service.raw('GET', `${path}/work/poll`, undefined, headers)
        assert.equal((await poll(pool.path)).status, 200)
        assert.equal((await poll(other.path)).status, 403)
      },
    )

    verifies(
      'auth/environment-key/revoked',
      'a key that was revoked claims nothing more',
      async () => {
        const short = await newPool(service)
        const headers = { 'x-api-key': '', authorization: `Bearer ${short.key}` }
        await service.ask('DELETE', `/v1/ext/api_keys/${short.keyId}`)
        const answer = await service.raw('GET', `${short.path}/work/poll`, undefined, headers)
        assert.equal(answer.status, 401)
      },
    )

    verifies(
      'events/post/tool-result',
      'a claim posts results of tools, and speaks for nobody',
      async () => {
        const mine = await claimedSession(service, pool, `run: echo ${fresh('hi')}`)
        const path = `/v1/sessions/${mine.session}/events`
        const message = { type: 'user.message', content: [{ type: 'text', text: 'x' }] }
        assert.equal(await status('POST', path, mine.token, { events: [message] }), 403)
        const call = await mine.call()
        const result = { type: 'user.tool_result', tool_use_id: call, content: [] }
        assert.equal(await status('POST', path, mine.token, { events: [result] }), 202)
        assert.equal(await status('POST', path, mine.token, { events: [result] }), 202, 'again')
        const log = await service.ask<unknown[]>('GET', `/v1/sessions/${mine.session}/log`)
        const kept = log.body.filter((each) => JSON.stringify(each).includes('user.tool_result'))
        assert.equal(kept.length, 1)
      },
    )
  })
}
