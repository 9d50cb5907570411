import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { iso } from '@steward/base/time.ts'
import type { KyselyPlugin, RawBuilder, RootOperationNode } from 'kysely'
import { CompiledQuery, createQueryId, sql } from 'kysely'
import type { Database, Queries } from '../../ground/database/database.ts'
import { databases } from '../../ground/database/fixture.ts'
import { withoutNotices } from '../../ground/database/notices.ts'
import { integrationStore } from './store.ts'

const before = iso(Date.UTC(2031, 0))

/** Numbers from 1 to 20,000, as `n`. */
const numbers = {
  sqlite: sql`(with recursive counted (n) as (select 1 union all select n + 1 from counted where n < 20000)
    select n from counted)`,
  postgres: sql`(select * from generate_series(1, 20000) as counted (n))`,
} satisfies Record<Database['dialect'], RawBuilder<unknown>>

/** Inserts 20,000 ended deliveries. Every fourth is not old, and every tenth still waits. */
const insertMany = (db: Database): Promise<void> =>
  db.write(async (tx) => {
    await sql`insert into integration_deliveries
        (tenant_id, id, publication_id, external_id, state, begun, due_ms, created_at)
      select 'wrkspc_' || (n % 7), 'intdlv_' || n, 'pub_1', 'external_' || n, 'delivered', 0,
        case when n % 10 = 0 then 1 end,
        case when n % 4 = 0 then ${before} else ${iso(Date.UTC(2030, 0))} end
      from ${numbers[db.dialect]} as numbers`.execute(tx)
    await sql`analyze integration_deliveries`.execute(tx)
  })

const explain = { sqlite: 'explain query plan', postgres: 'explain' }

/** The plan of the one statement that `work` sends. */
async function planOf(db: Database, work: (tx: Queries) => Promise<unknown>): Promise<string> {
  const sent: RootOperationNode[] = []
  const recording: KyselyPlugin = {
    transformQuery({ node }) {
      sent.push(node)
      return node
    },
    transformResult: async ({ result }) => result,
  }
  return db.write(async (tx) => {
    await work(withoutNotices(tx.withPlugin(recording)))
    // The statement comes after its subqueries.
    const node = sent.at(-1) ?? assert.fail('nothing was sent')
    const compiled = tx.getExecutor().compileQuery(node, createQueryId())
    const explained = CompiledQuery.raw(`${explain[db.dialect]} ${compiled.sql}`, [
      ...compiled.parameters,
    ])
    const { rows } = await tx.executeQuery<Record<string, unknown>>(explained)
    return rows.map((row) => row['detail'] ?? row['QUERY PLAN']).join('\n')
  })
}

for (const [dialect, open] of Object.entries(databases)) {
  describe(`old deliveries on ${dialect}`, () => {
    it('are removed some at a time, and neither those that wait nor newer ones', async () => {
      await using opened = await open()
      const { database: db } = opened
      await insertMany(db)
      const counted = async () =>
        (await db.read.selectFrom('integration_deliveries').select('id').execute()).length
      const forget = (limit: number) =>
        db.writeStatement((tx) => integrationStore(tx).forgetDeliveries(before, limit))
      assert.deepEqual([await forget(500), await counted()], [500, 19_500])
      // Of 15,000 old deliveries 1,000 wait: the numbers below 20,000 that 10 divides and 4 does not.
      assert.deepEqual([await forget(20_000), await counted()], [13_500, 6_000])
      assert.equal(await forget(500), 0)
    })

    it('are found by their keys, however many others there are', async () => {
      await using opened = await open()
      await insertMany(opened.database)
      const plan = await planOf(opened.database, (tx) =>
        integrationStore(tx).forgetDeliveries(before, 10),
      )
      const byKey = {
        sqlite: /\(tenant_id=\? AND id=\?\)/,
        postgres: /integration_deliveries_key.*\n.*\(tenant_id = .* AND .*\(id = /,
      }
      assert.match(plan, byKey[opened.database.dialect])
      assert.doesNotMatch(plan, /^SCAN|Seq Scan/m)
    })
  })
}
