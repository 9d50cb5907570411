/** Limits that hold for one workspace in place of the server's. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { NotFoundError } from '@anthropic-ai/sdk'
import { systemClock } from '@steward/base/time.ts'
import { newPostgresUrl } from '@steward/server/ground/database/fixture.ts'
import { setLimit } from '@steward/server/tenants/limits/operator-limits.ts'
import { callerAt } from '../caller.ts'
import type { TestService } from '../service.ts'
import { besideService, boot, databases } from '../service.ts'
import { fresh } from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'

const env = { RATE_LIMITS: 'reads:100/d,writes:20/d' }

type ShownLimits = { value: number; org_limit: number; source: { type: string } }
type ListedLimits = { data: { limits: ShownLimits[] }[] }

const limitOf = async (caller: Pick<TestService, 'ask'>) =>
  Number((await caller.ask('GET', '/v1/agents')).headers.get('x-ratelimit-limit'))

async function workspaceOf(service: TestService) {
  const { workspace, key } = await service.otherWorkspace(fresh('workspace'))
  const path = `/v1/organizations/workspaces/${workspace}/rate_limits`
  return { workspace, key, path, ...callerAt(service.base, key) }
}

const update = (value: number | null) => ({ limits: [{ type: 'requests_per_day', value }] })

for (const database of databases)
  describe(`limits of a workspace, on ${database}`, () => {
    let service: TestService
    let ahead = 0
    before(async () => {
      const clock = { ...systemClock, now: () => Date.now() + ahead }
      service = await boot(database, { env, overrides: { clock } })
    })
    after(() => service.close())

    verifies(
      ['limits/overrides/list', 'limits/overrides/lower'],
      'the official client lists the limits, lowers one of its workspace at once, and gives it back',
      async () => {
        const { client, workspace, ...caller } = await workspaceOf(service)
        const { rateLimits, workspaces } = client.organization
        const server = await rateLimits.list()
        assert.deepEqual(
          server.data.map(({ id, type, limits }) => ({ id, type, limits })),
          [
            {
              id: 'rl_reads',
              type: 'rate_limit',
              limits: [{ type: 'requests_per_day', value: 100 }],
            },
            {
              id: 'rl_writes',
              type: 'rate_limit',
              limits: [{ type: 'requests_per_day', value: 20 }],
            },
          ],
        )
        assert.equal((await rateLimits.list({ model: null })).data.length, 2)
        await assert.rejects(rateLimits.list({ model: 'offline' }), NotFoundError)
        assert.deepEqual((await workspaces.rateLimits.list(workspace)).data, [])
        const { status, body } = await caller.ask<{ limits: ShownLimits[] }>(
          'POST',
          `${caller.path}/rl_reads`,
          update(7),
        )
        assert.equal(status, 200)
        const own = { type: 'requests_per_day', value: 7, org_limit: 100 }
        assert.deepEqual(body.limits, [{ ...own, source: { type: 'workspace' } }])
        assert.equal(await limitOf(caller), 7)
        const [listed, ...others] = (await workspaces.rateLimits.list(workspace)).data
        assert.deepEqual([listed?.rate_limit_id, others], ['rl_reads', []])
        const all = (await workspaces.rateLimits.list(workspace, { include_inherited: true })).data
        assert.deepEqual(
          all.map(({ limits: [limit] }) => [limit?.value, limit?.source.type]),
          [
            [7, 'workspace'],
            [20, 'organization'],
          ],
        )
        await caller.ask('POST', `${caller.path}/rl_reads`, update(null))
        assert.equal(await limitOf(caller), 100)
      },
    )

    verifies(
      'limits/overrides/operator',
      'the operator raises a limit; what a workspace sets above is kept, and the lower of the two holds',
      async () => {
        const { workspace, ...caller } = await workspaceOf(service)
        const deps = { databases: service.databases, clock: systemClock }
        const set = async (value: string) => {
          await setLimit(deps, { workspace, name: 'reads', value })
          ahead += 15_000
        }
        assert.equal(await limitOf(caller), 100)
        await set('300/d')
        await until(async () => (await limitOf(caller)) === 300)
        const above = await caller.ask<{ limits: ShownLimits[] }>(
          'POST',
          `${caller.path}/rl_reads`,
          update(1_000),
        )
        assert.deepEqual(
          [above.body.limits[0]?.value, above.body.limits[0]?.org_limit],
          [1_000, 300],
        )
        assert.equal(await limitOf(caller), 300)
        await set('2000/d')
        await until(async () => (await limitOf(caller)) === 1_000)
        await set('default')
        await until(async () => (await limitOf(caller)) === 100)
      },
    )

    verifies(
      'limits/overrides/who',
      'a plain key, another workspace, a limit that is none and a unit that is another are refused',
      async () => {
        const caller = await workspaceOf(service)
        const other = await workspaceOf(service)
        const plain = await caller.ask<{ key: string }>('POST', '/v1/ext/api_keys', { name: 'x' })
        const asPlain = callerAt(service.base, plain.body.key)
        const post = (path: string, body: object = update(5)) => caller.ask('POST', path, body)
        assert.equal((await asPlain.ask('GET', caller.path)).status, 403)
        assert.equal((await asPlain.ask('POST', `${caller.path}/rl_reads`, update(5))).status, 403)
        assert.equal((await caller.ask('GET', other.path)).status, 404)
        assert.equal((await post(`${other.path}/rl_reads`)).status, 404)
        assert.equal((await post(`${caller.path}/rl_uploads`)).status, 404)
        const wrong = { limits: [{ type: 'requests_per_minute', value: 5 }] }
        const refused = await caller.ask<{ error: { message: string } }>(
          'POST',
          `${caller.path}/rl_reads`,
          wrong,
        )
        assert.equal(refused.status, 400)
        assert.equal(refused.body.error.message, 'limits.0.type: this limit is of requests_per_day')
        assert.equal((await post(`${caller.path}/rl_reads`, update(0))).status, 400)
        assert.equal(await limitOf(caller), 100)
        assert.equal((await caller.ask<ListedLimits>('GET', caller.path)).body.data.length, 0)
      },
    )
  })

describe('two processes', () => {
  verifies(
    'limits/overrides/lower',
    'a limit that is lowered at one holds at the other at once',
    async () => {
      const url = await newPostgresUrl()
      const one = await boot('sqlite', { env: { ...env, DATABASE_URL: url } })
      const other = await boot('sqlite', { env: { ...env, ...besideService(url, one) } })
      try {
        const { key, ...caller } = await workspaceOf(one)
        const there = callerAt(other.base, key)
        assert.equal(await limitOf(there), 100)
        await caller.ask('POST', `${caller.path}/rl_reads`, update(9))
        await until(async () => (await limitOf(there)) === 9)
      } finally {
        await one.close()
        await other.close()
      }
    },
  )
})
