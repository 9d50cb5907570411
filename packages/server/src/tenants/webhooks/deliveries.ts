import { sql } from 'kysely'
import { iso } from '@steward/base/time.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { defineStore } from '../../ground/database/store-of.ts'
import { isFree } from '../../ground/database/lease.ts'
import { forUpdate } from '../../ground/database/lock.ts'
import { selectRaw } from '../../ground/database/select-raw.ts'
import type { WebhookDeliveryRow } from './outbox.ts'

const byId = (db: Reads, tenant: string, id: string) =>
  db
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)

function deliveryReads(db: Reads) {
  return {
    due: (endpoint: string, now: number, limit: number): Promise<WebhookDeliveryRow[]> =>
      db
        .selectFrom('webhook_deliveries')
        .selectAll()
        .where('endpoint_id', '=', endpoint)
        .where(isFree('webhook_deliveries', now))
        .orderBy('due_ms')
        .limit(limit)
        .execute(),

    /** Endpoints with due deliveries. Each costs one step into the index, however many deliveries wait. */
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
    /** Locks the delivery; undefined when it was deleted. */
    findForUpdate: (tenant: string, id: string) =>
      forUpdate(db, byId(db, tenant, id)).executeTakeFirst(),

    /** Records an attempt before it is made; false when a peer was faster. Due again at `lostMs` unless it ends. */
    async begin(row: WebhookDeliveryRow, lostMs: number): Promise<boolean> {
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

    async update(row: WebhookDeliveryRow, set: Partial<WebhookDeliveryRow>): Promise<void> {
      await db
        .updateTable('webhook_deliveries')
        .set(set)
        .where('tenant_id', '=', row.tenant_id)
        .where('id', '=', row.id)
        .execute()
    },

    /** Fails all waiting deliveries of a disabled or deleted endpoint. */
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

/** Deliveries, for the dispatcher. */
export const deliveryStore = defineStore(deliveryReads, deliveryWrites)
