import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { iso, systemClock } from '@steward/base/time.ts'
import type { Database } from '../../ground/database/database.ts'
import { databases } from '../../ground/database/fixture.ts'
import { testGround } from '../../ground/ground-fixture.ts'
import { chainAll } from './chain.ts'
import { auditStore } from './store.ts'
import { removeOldAudit } from './retention.ts'

const [tenant, other] = ['wrkspc_test', 'wrkspc_other']
const keys = [Buffer.alloc(32, 1)] as const
const day = 24 * 60 * 60 * 1000

async function used(database: Database, of: string, many: number, now: number): Promise<void> {
  const uses = Array.from({ length: many }, (_, n) => ({
    ...{ tenant_id: of, id: `use_${now}_${n}`, session_id: 'sess_test', vault_id: null },
    ...{ credential_id: null, caller: 'gate', server: '', host: 'h', method: 'GET' },
    created_at: iso(now),
  }))
  await database.write((tx) => auditStore(tx).begin(uses))
}

for (const [dialect, open] of Object.entries(databases)) {
  describe(`the trail of credentials on ${dialect}`, () => {
    it('forgets what is older than it is kept, of every tenant, and nothing younger', async () => {
      await using opened = await open()
      const { database } = opened
      for (const id of [tenant, other]) {
        const workspace = { id, name: id, created_at: iso(0) }
        await database.write((tx) => tx.insertInto('workspaces').values(workspace).execute())
        await used(database, id, 700, 0)
        await used(database, id, 2, day)
        const made = { change: 'vault.updated', of: { vault: 'v' }, by: {} } as const
        for (const now of [0, day])
          await database.write((tx) => auditStore(tx).changed(id, { ...made, now }))
      }
      await chainAll({ database, keys, now: () => 0 })
      const clock = { ...systemClock, now: () => 10 * day + 1 }
      const deps = { ...testGround(database, { clock }), auditMs: 10 * day, keys }
      const remove = removeOldAudit(deps, 0)
      assert.equal(await remove(), false)
      assert.equal(await remove(), true)
      for (const table of ['credential_uses', 'credential_changes'] as const) {
        const rows = await database.read
          .selectFrom(table)
          .select(['tenant_id', 'created_at'])
          .orderBy('tenant_id')
          .execute()
        const each = table === 'credential_uses' ? 2 : 1
        assert.deepEqual(
          rows.map((row) => row.tenant_id),
          [other, tenant].flatMap((id) => Array.from({ length: each }, () => id)),
        )
        assert.ok(rows.every(({ created_at }) => created_at === iso(day)))
      }
    })
  })
}
