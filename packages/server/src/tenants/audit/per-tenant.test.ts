import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Database } from '../../ground/database/database.ts'
import { tenantShapes } from '../../ground/database/per-tenant/fixture.ts'
import { insertRows } from '../../ground/database/statement.ts'
import { testGround } from '../../ground/ground-fixture.ts'
import { auditJobs } from './job.ts'
import { removeOldAudit } from './retention.ts'
import { verifyChains } from './verify.ts'

const keys = [Buffer.alloc(32, 1)] as const
const [a, b, unused] = ['wrkspc_a', 'wrkspc_b', 'wrkspc_unused']

const lineOf = (tenant: string, id: string) => ({
  ...{ tenant_id: tenant, id, action: 'agent.update', resource_type: 'agent', resource_id: null },
  ...{ parent_id: null, actor_type: 'api_key', actor_id: null, actor_name: null },
  ...{ credential_type: 'api_key', credential_id: null, address: null, user_agent: null },
  ...{ request_id: null, method: null, route: null, before_fields: null, after_fields: null },
  ...{ created_at: '2020-01-01T00:00:00.000Z', seq: null, hash: null },
})

const put = (database: Database, tenant: string, id: string) =>
  database.write((tx) => insertRows(tx, 'audit_lines', [lineOf(tenant, id)]))

const linesIn = async ({ read }: Database): Promise<string[]> => {
  const rows = await read.selectFrom('audit_lines').select('id').orderBy('id').execute()
  return rows.map(({ id }) => id)
}

for (const [shape, open] of Object.entries(tenantShapes)) {
  describe(`the audit where databases of tenants are ${shape}`, () => {
    it('is chained in control and with each tenant, verified, and removed when it is old', async () => {
      await using at = await open([a, b])
      const { databases } = at
      const { control } = databases
      const deps = { ...testGround(databases), keys, auditMs: 1_000 }
      await put(control, '', 'of-deployment')
      await put(control, a, 'waits')
      await put(await databases.open(b), b, 'of-b')
      const signal = new AbortController().signal
      await auditJobs(deps)[0]?.run(signal)
      const ofA = await databases.open(a)
      assert.deepEqual(await linesIn(control), ['of-deployment'])
      assert.deepEqual(await linesIn(ofA), ['waits'])
      const lines: Record<string, number> = {}
      for await (const chain of verifyChains(databases, { keys, tenant: undefined })) {
        assert.ok(chain.ok)
        lines[`${chain.workspace_id} ${chain.trail}`] = chain.lines - chain.unchained
      }
      assert.equal(lines['null audit_lines'], 1)
      assert.equal(lines[`${a} audit_lines`], 1)
      assert.equal(lines[`${b} audit_lines`], 1)
      assert.equal(await removeOldAudit(deps, 6 * 60 * 60_000)(), true)
      for (const database of [control, ofA, await databases.open(b)])
        assert.deepEqual(await linesIn(database), [])
    })

    it('makes no database for a workspace that nobody has used', async () => {
      await using at = await open([a, unused])
      const { databases } = at
      await databases.open(a)
      const deps = { ...testGround(databases), keys, auditMs: 1_000 }
      await removeOldAudit(deps, 6 * 60 * 60_000)()
      const known = databases.control.read.selectFrom('tenant_databases').select('tenant_id')
      assert.deepEqual(
        (await known.execute()).map((row) => row.tenant_id),
        [a],
      )
    })
  })
}
