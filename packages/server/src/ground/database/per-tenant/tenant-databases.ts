/** Rows of control: which tenants have a database, and when a job has to look at it. */
import { iso } from '@steward/base/time.ts'
import type { Queries, Reads } from '../database.ts'
import { defineStore } from '../store-of.ts'

const reads = (db: Reads) => ({
  async isKnown(tenant: string): Promise<boolean> {
    const row = await db
      .selectFrom('tenant_databases')
      .select('tenant_id')
      .where('tenant_id', '=', tenant)
      .executeTakeFirst()
    return row !== undefined
  },

  /** True when the tenant's workspace exists, so that a database may be created. */
  async isWorkspace(tenant: string): Promise<boolean> {
    const row = await db
      .selectFrom('workspaces')
      .select('id')
      .where('id', '=', tenant)
      .where('deleted_at', 'is', null)
      .executeTakeFirst()
    return row !== undefined
  },

  /** Databases that a job has to look at by `now`, and when a process last announced that it writes to them. */
  due: (now: number): Promise<{ tenant_id: string; woken_ms: number }[]> =>
    db
      .selectFrom('tenant_databases')
      .select(['tenant_id', 'woken_ms'])
      .where('due_ms', '<=', now)
      .orderBy('tenant_id')
      .execute(),

  async all(): Promise<string[]> {
    const rows = await db
      .selectFrom('tenant_databases')
      .select('tenant_id')
      .orderBy('tenant_id')
      .execute()
    return rows.map(({ tenant_id }) => tenant_id)
  },

  async count(): Promise<number> {
    const { all } = await db
      .selectFrom('tenant_databases')
      .select((eb) => eb.fn.countAll().as('all'))
      .executeTakeFirstOrThrow()
    return Number(all)
  },

  async after(tenant: string, limit: number): Promise<string[]> {
    const rows = await db
      .selectFrom('tenant_databases')
      .select('tenant_id')
      .where('tenant_id', '>', tenant)
      .orderBy('tenant_id')
      .limit(limit)
      .execute()
    return rows.map(({ tenant_id }) => tenant_id)
  },
})

const writes = (db: Queries) => ({
  async add(tenant: string, now: number): Promise<void> {
    await db
      .insertInto('tenant_databases')
      .values({ tenant_id: tenant, created_at: iso(now), woken_ms: now, due_ms: 0 })
      .onConflict((conflict) => conflict.column('tenant_id').doNothing())
      .execute()
  },

  /** Call it before the first write: if the process dies, jobs still look at the database. */
  async wake(tenant: string, now: number): Promise<void> {
    await db
      .updateTable('tenant_databases')
      .set({ woken_ms: now, due_ms: 0 })
      .where('tenant_id', '=', tenant)
      .execute()
  },

  /** Sets the next job time unless a process has announced a write since `wokenBefore`. */
  async settle(
    tenant: string,
    { due, wokenBefore }: { due: number | undefined; wokenBefore: number },
  ): Promise<void> {
    await db
      .updateTable('tenant_databases')
      .set({ due_ms: due ?? null })
      .where('tenant_id', '=', tenant)
      .where('woken_ms', '<', wokenBefore)
      .execute()
  },

  async remove(tenant: string): Promise<void> {
    await db.deleteFrom('tenant_databases').where('tenant_id', '=', tenant).execute()
  },
})

export const tenantDatabaseStore = defineStore(reads, writes)
