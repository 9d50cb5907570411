import type { WebhookAttempt, WebhookDelivery } from '@steward/protocol/webhooks.ts'
import type { SelectQueryBuilder } from 'kysely'
import { notFound } from '../../ground/core/errors.ts'
import type { Listing, Paging } from '../../ground/core/text/page.ts'
import { iso } from '@steward/base/time.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { defineStore } from '../../ground/database/store-of.ts'
import { readPage, rowWeight } from '../../ground/database/listing.ts'
import type { Tables } from '../../ground/database/tables.ts'
import type { WebhookDeliveryRow } from './outbox.ts'
import { fromJson } from '../../ground/core/text/json-text.ts'
import { isWorkspaceHeld, lockHolds, unless } from '../../ground/database/holds.ts'

async function removeDeliveries(
  db: Queries,
  chosen: SelectQueryBuilder<
    Tables,
    'webhook_deliveries',
    Pick<WebhookDeliveryRow, 'tenant_id' | 'id'>
  >,
): Promise<number> {
  await lockHolds(db)
  const unheld = chosen.where(unless(isWorkspaceHeld('webhook_deliveries.tenant_id')))
  const gone = await db
    .deleteFrom('webhook_deliveries')
    .where((where) =>
      where(where.refTuple('tenant_id', 'id'), 'in', unheld.$asTuple('tenant_id', 'id')),
    )
    .returning('id')
    .execute()
  return gone.length
}

function logReads(db: Reads) {
  return {
    async row(tenant: string, endpoint: string, id: string): Promise<WebhookDeliveryRow> {
      const row = await db
        .selectFrom('webhook_deliveries')
        .selectAll()
        .where('tenant_id', '=', tenant)
        .where('id', '=', id)
        .where('endpoint_id', '=', endpoint)
        .executeTakeFirst()
      if (!row) throw notFound('webhook delivery', id)
      return row
    },

    list(
      tenant: string,
      endpoint: string,
      { paging, state }: { paging: Paging; state: WebhookDeliveryRow['state'] | undefined },
    ): Promise<Listing<WebhookDeliveryRow>> {
      let rows = db
        .selectFrom('webhook_deliveries')
        .selectAll()
        .where('tenant_id', '=', tenant)
        .where('endpoint_id', '=', endpoint)
      if (state) rows = rows.where('state', '=', state)
      return readPage(tenant, rows, paging, rowWeight('body', 'attempts'))
    },
  }
}

function logWrites(db: Queries) {
  return {
    /** Removes at most `limit` deliveries that ended before the time; returns their number. */
    forget: (before: string, limit: number): Promise<number> =>
      removeDeliveries(
        db,
        db
          .selectFrom('webhook_deliveries')
          .select(['tenant_id', 'id'])
          .where('ended_at', '<', before)
          .limit(limit),
      ),

    /** Removes at most `limit` ended deliveries of an endpoint, beyond its newest `most`; returns their number. */
    async trim(
      { tenant_id, id }: { tenant_id: string; id: string },
      { most, limit }: { most: number; limit: number },
    ): Promise<number> {
      const own = db
        .selectFrom('webhook_deliveries')
        .where('tenant_id', '=', tenant_id)
        .where('endpoint_id', '=', id)
      const last = await own
        .select('created_at')
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .offset(most)
        .limit(1)
        .executeTakeFirst()
      if (!last) return 0
      return removeDeliveries(
        db,
        own
          .select(['tenant_id', 'id'])
          .where('created_at', '<=', last.created_at)
          .where('ended_at', 'is not', null)
          .limit(limit),
      )
    },
  }
}

/** Deliveries, for lists and for their removal. */
export const deliveryLog = defineStore(logReads, logWrites)

export const attemptsOf = (row: WebhookDeliveryRow): WebhookAttempt[] => fromJson(row.attempts)

export const showDelivery = (row: WebhookDeliveryRow): WebhookDelivery => ({
  id: row.id,
  type: 'webhook_delivery',
  endpoint_id: row.endpoint_id,
  event_id: row.event_id,
  event_type: row.kind,
  status: row.state,
  attempts: attemptsOf(row),
  next_attempt_at: row.due_ms === null ? null : iso(row.due_ms),
  body: row.body,
  created_at: row.created_at,
  ended_at: row.ended_at,
})
