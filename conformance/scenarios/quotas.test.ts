/** How many things a workspace may hold. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { systemClock } from '@steward/base/time.ts'
import { oneDatabase } from '@steward/server/ground/database/database.ts'
import { setLimit } from '@steward/server/tenants/limits/set.ts'
import { callerAt } from '../caller.ts'
import type { Service } from '../service.ts'
import { boot, databases } from '../service.ts'
import { fresh } from '../turns.ts'
import { verifies } from '../verifies.ts'

type Refusal = { error: { type: string; message: string; details: { error_code: string } } }
type QuotaList = {
  data: { name: string; limit: number | null; allowed: number | null; used: number }[]
}

for (const database of databases)
  describe(`quotas, on ${database}`, () => {
    let service: Service
    let ahead = 0
    before(async () => {
      const clock = { ...systemClock, now: () => Date.now() + ahead }
      service = await boot(database, { overrides: { clock } })
    })
    after(() => service.close())

    async function workspaceOf() {
      const { workspace, key } = await service.otherWorkspace(fresh('workspace'))
      return { workspace, ...callerAt(service.base, key) }
    }
    type Workspace = Awaited<ReturnType<typeof workspaceOf>>

    const newAgent = ({ ask }: Workspace) =>
      ask<Refusal & { id: string }>('POST', '/v1/agents', {
        name: fresh('agent'),
        model: 'offline',
        tools: [],
      })

    async function agentsOf({ ask }: Workspace) {
      const { body } = await ask<QuotaList>('GET', '/v1/ext/quotas')
      const found = body.data.find(({ name }) => name === 'agents')
      assert.ok(found)
      const { limit, allowed, used } = found
      return { limit, allowed, used }
    }

    async function allow({ workspace }: Workspace, value: string) {
      const deps = { databases: oneDatabase(service.database), clock: systemClock }
      await setLimit(deps, { workspace, name: 'agents', value })
      ahead += 15_000
    }

    verifies(
      'limits/quotas/agents',
      'of 20 agents that are created at once a workspace has as many as it may, and room when one is archived',
      async () => {
        const caller = await workspaceOf()
        const other = await workspaceOf()
        assert.deepEqual(await agentsOf(caller), { limit: null, allowed: null, used: 0 })
        await allow(caller, '5')
        const made = await Promise.all(Array.from({ length: 20 }, () => newAgent(caller)))
        const agents = made.filter(({ status }) => status === 200)
        assert.equal(agents.length, 5)
        const refused = made.filter(({ status }) => status === 403)
        assert.equal(refused.length, 15)
        const { error } = refused[0]?.body ?? assert.fail()
        assert.equal(error.details.error_code, 'quota_exceeded')
        assert.equal(
          error.message,
          'this workspace may have 5 agents that are not archived: archive some first',
        )
        assert.deepEqual(await agentsOf(caller), { limit: 5, allowed: 5, used: 5 })
        await caller.ask('POST', `/v1/agents/${agents[0]?.body.id}/archive`)
        assert.equal((await newAgent(caller)).status, 200)
        assert.equal((await newAgent(caller)).status, 403)
        assert.equal((await newAgent(other)).status, 200)
        await allow(caller, 'default')
        assert.equal((await newAgent(caller)).status, 200)
      },
    )

    verifies(
      'limits/quotas/who',
      'an admin key lowers a quota at once, and cannot raise what the operator allows; a plain key only reads',
      async () => {
        const caller = await workspaceOf()
        const set = (limit: number | null) => caller.ask('POST', '/v1/ext/quotas/agents', { limit })
        assert.equal((await set(1)).status, 200)
        assert.equal((await newAgent(caller)).status, 200)
        assert.equal((await newAgent(caller)).status, 403)
        await allow(caller, '2')
        await set(100)
        assert.deepEqual(await agentsOf(caller), { limit: 100, allowed: 2, used: 1 })
        assert.equal((await newAgent(caller)).status, 200)
        assert.equal((await newAgent(caller)).status, 403)
        await set(null)
        assert.deepEqual(await agentsOf(caller), { limit: 2, allowed: 2, used: 2 })
        const plain = await caller.ask<{ key: string }>('POST', '/v1/ext/api_keys', { name: 'x' })
        const asPlain = callerAt(service.base, plain.body.key)
        assert.equal((await asPlain.ask('GET', '/v1/ext/quotas')).status, 200)
        const change = await asPlain.ask('POST', '/v1/ext/quotas/agents', { limit: 9 })
        assert.equal(change.status, 403)
        assert.equal((await caller.ask('POST', '/v1/ext/quotas/mice', { limit: 1 })).status, 404)
        await assert.rejects(allow(caller, 'many'), /"many" is not a number of agents/)
      },
    )
  })
