import { sql } from 'kysely'
import { iso } from '@steward/base/time.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { storeOf } from '../../ground/database/store-of.ts'
import { isFree } from '../../ground/database/lease.ts'
import { lockForUpdate } from '../../ground/database/lock.ts'
import { selectRaw } from '../../ground/database/select-raw.ts'
import type { Row } from './outbox.ts'

const byId = (db: Reads, tenant: string, id: string) =>
  db
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)

function deliveryReads(db: Reads) {
  return {
    due: (endpoint: string, now: number, limit: number): Promise<Row[]> =>
      db
        .selectFrom('webhook_deliveries')
        .selectAll()
        .where('endpoint_id', '=', endpoint)
        .where(isFree('webhook_deliveries', now))
        .orderBy('due_ms')
        .limit(limit)
        .execute(),

    /** Endpoints with something due, each found by one step into the index, however much waits for it. */
    async waiting(now: number): Promise<string[]> {
      const rows = await selectRaw(
        db,
        sql<{ endpoint_id: string }>`
        with recursive waiting (endpoint_id) as (
          select min(endpoint_id) from webhook_deliveries where due_ms is not null
          union all
          select (
            select min(later.endpoint_id) from webhook_deliveries as later
            where later.due_ms is not null and later.endpoint_id > waiting.endpoint_id
          )
          from waiting where waiting.endpoint_id is not null
        )
        select endpoint_id from waiting where endpoint_id is not null and exists (
          select 1 from webhook_deliveries as one
          where one.endpoint_id = waiting.endpoint_id and one.due_ms <= ${now}
        )`,
      )
      return rows.map(({ endpoint_id }) => endpoint_id)
    },
  }
}

function deliveryWrites(db: Queries) {
  return {
    /** Undefined when it is gone. */
    take: (tenant: string, id: string) =>
      lockForUpdate(db, byId(db, tenant, id)).executeTakeFirst(),

    /** On record before it is made; false when another process was faster. Due again at `lostMs` unless it ends. */
    async begin(row: Row, lostMs: number): Promise<boolean> {
      const taken = await db
        .updateTable('webhook_deliveries')
        .set({ begun: row.begun + 1, due_ms: lostMs })
        .where('tenant_id', '=', row.tenant_id)
        .where('id', '=', row.id)
        .where('begun', '=', row.begun)
        .where('due_ms', '=', row.due_ms)
        .returning('id')
        .executeTakeFirst()
      return taken !== undefined
    },

    async update(row: Row, set: Partial<Row>): Promise<void> {
      await db
        .updateTable('webhook_deliveries')
        .set(set)
        .where('tenant_id', '=', row.tenant_id)
        .where('id', '=', row.id)
        .execute()
    },

    /** All that wait for an endpoint that takes nothing more. */
    async drop(endpoint: string, now: number): Promise<void> {
      await db
        .updateTable('webhook_deliveries')
        .set({ state: 'failed', due_ms: null, ended_at: iso(now) })
        .where('endpoint_id', '=', endpoint)
        .where('due_ms', 'is not', null)
        .execute()
    },
  }
}

/** Deliveries as they are sent. */
export const deliveryStore = storeOf(deliveryReads, deliveryWrites)
