import type { WebhookEndpoint, WebhookEndpointCreate } from '@steward/protocol/webhooks.ts'
import { newId } from '../../ground/core/text/ids.ts'
import type { Seal, Sealed } from '../../ground/core/security/seal.ts'
import { iso } from '@steward/base/time.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { defineStore } from '../../ground/database/store-of.ts'
import type { RowOf } from '../../ground/database/rows.ts'
import { rows } from '../../ground/database/rows.ts'
import type { hintSetting, organizationSetting } from './outbox.ts'

export type EndpointRow = RowOf<'webhook_endpoints'>

type EndpointSecrets = { current: string; previous?: string }

/** The place for which an endpoint's secret is sealed. `name`: `current` or `previous`. */
export const secretContext = (tenant: string, id: string, name: string): string =>
  `${tenant}/webhook_endpoints/${id}/sealed_secrets/${name}`

export const sealedSecrets = (
  seal: Seal,
  { tenant, id }: { tenant: string; id: string },
  { current, previous }: EndpointSecrets,
): EndpointRow['sealed_secrets'] => {
  const sealed = (secret: string, name: keyof EndpointSecrets) =>
    seal.seal(secret, secretContext(tenant, id, name))
  return {
    current: sealed(current, 'current'),
    ...(previous === undefined ? {} : { previous: sealed(previous, 'previous') }),
  }
}

/** The row of a new, enabled endpoint. */
export function buildEndpointRow(
  tenant: string,
  body: WebhookEndpointCreate,
  { seal, secret, now }: { seal: Seal; secret: string; now: number },
): EndpointRow {
  const id = newId('webhook_endpoint')
  const at = iso(now)
  return {
    tenant_id: tenant,
    id,
    url: body.url,
    description: body.description ?? null,
    enabled_events: body.enabled_events,
    sealed_secrets: sealedSecrets(seal, { tenant, id }, { current: secret }),
    previous_until: null,
    failures: 0,
    disabled_reason: null,
    disabled_at: null,
    created_at: at,
    updated_at: at,
  }
}

/** The secrets that sign now, newest first. */
export function openSigningSecrets(seal: Seal, row: EndpointRow, now: number): string[] {
  const { current, previous } = row.sealed_secrets
  const open = (sealed: Sealed, name: keyof EndpointSecrets) =>
    seal.open(sealed, secretContext(row.tenant_id, row.id, name))
  const overlaps = previous !== undefined && isOverlap(row, now)
  return [open(current, 'current'), ...(overlaps ? [open(previous, 'previous')] : [])]
}

const isOverlap = ({ previous_until }: EndpointRow, now: number): boolean =>
  previous_until !== null && Date.parse(previous_until) > now

/** Columns without JSON. */
type EndpointHealth = Partial<
  Pick<EndpointRow, 'failures' | 'disabled_reason' | 'disabled_at' | 'updated_at'>
>

const change = (db: Queries, tenant: string, id: string, set: EndpointHealth) =>
  db.updateTable('webhook_endpoints').set(set).where('tenant_id', '=', tenant).where('id', '=', id)

function endpointReads(db: Reads) {
  return {
    async count(tenant: string): Promise<number> {
      const { all } = await db
        .selectFrom('webhook_endpoints')
        .select((eb) => eb.fn.countAll<number>().as('all'))
        .where('tenant_id', '=', tenant)
        .executeTakeFirstOrThrow()
      return Number(all)
    },

    /** All endpoints of the tenant, of which there are few, the oldest first. */
    all: (tenant: string): Promise<EndpointRow[]> =>
      rows(db, 'webhook_endpoints').all(tenant, (query) =>
        query.orderBy('created_at').orderBy('id'),
      ),

    everyone: (): Promise<Pick<EndpointRow, 'tenant_id' | 'id'>[]> =>
      db.selectFrom('webhook_endpoints').select(['tenant_id', 'id']).execute(),
  }
}

function endpointWrites(db: Queries) {
  return {
    /** Counts a failed delivery; returns the number of consecutive failures. */
    async failed(tenant: string, id: string): Promise<number> {
      const row = await db
        .updateTable('webhook_endpoints')
        .set((eb) => ({ failures: eb('failures', '+', 1) }))
        .where('tenant_id', '=', tenant)
        .where('id', '=', id)
        .returning('failures')
        .executeTakeFirst()
      return row?.failures ?? 0
    },

    async delivered(tenant: string, id: string): Promise<void> {
      await change(db, tenant, id, { failures: 0 }).where('failures', '>', 0).execute()
    },

    /** Stops deliveries to the endpoint until a caller enables it. */
    async disable(
      tenant: string,
      id: string,
      { reason, now }: { reason: EndpointRow['disabled_reason']; now: number },
    ): Promise<void> {
      const set = { disabled_reason: reason, disabled_at: iso(now), updated_at: iso(now) }
      await change(db, tenant, id, set).where('disabled_at', 'is', null).execute()
    },

    async setting(name: typeof hintSetting | typeof organizationSetting, value: string | null) {
      await db.deleteFrom('settings').where('name', '=', name).execute()
      if (value !== null) await db.insertInto('settings').values({ name, value }).execute()
    },
  }
}

/** Endpoints of workspaces, and the server's settings of webhooks. */
export const endpointStore = defineStore(endpointReads, endpointWrites)

export const showEndpoint = (row: EndpointRow, now: number): WebhookEndpoint => ({
  id: row.id,
  type: 'webhook_endpoint',
  url: row.url,
  description: row.description,
  enabled_events: row.enabled_events,
  status: row.disabled_at === null ? 'enabled' : 'disabled',
  disabled_reason: row.disabled_reason,
  disabled_at: row.disabled_at,
  previous_secret_expires_at: isOverlap(row, now) ? row.previous_until : null,
  created_at: row.created_at,
  updated_at: row.updated_at,
})
