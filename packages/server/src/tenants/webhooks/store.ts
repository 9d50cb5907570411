import type { WebhookEndpoint, WebhookEndpointCreate } from '@steward/protocol/webhooks.ts'
import { notFound } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/ids.ts'
import type { Listing, Paging } from '../../ground/core/page.ts'
import type { Seal, Sealed } from '../../ground/core/seal.ts'
import { iso } from '@steward/base/time.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { storeOf } from '../../ground/database/store-of.ts'
import { readPage, weightOf } from '../../ground/database/listing.ts'
import { taking } from '../../ground/database/lock.ts'
import type { Tables } from '../../ground/database/tables.ts'
import type { hintSetting, organizationSetting } from './outbox.ts'
import { fromJson, toJson } from '../../ground/core/json-text.ts'

export type EndpointRow = Tables['webhook_endpoints']

type Secrets = { current: string; previous?: string }

/** Where an endpoint's secret is sealed for; `name` is `current` or `previous`. */
export const secretPlace = (tenant: string, id: string, name: string): string =>
  `${tenant}/webhook_endpoints/${id}/sealed_secrets/${name}`

export const sealedSecrets = (
  seal: Seal,
  { tenant, id }: { tenant: string; id: string },
  { current, previous }: Secrets,
): EndpointRow['sealed_secrets'] => {
  const sealed = (secret: string, name: keyof Secrets) =>
    seal.seal(secret, secretPlace(tenant, id, name))
  return toJson({
    current: sealed(current, 'current'),
    ...(previous === undefined ? {} : { previous: sealed(previous, 'previous') }),
  })
}

/** A new one, enabled. */
export function endpointOf(
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
    enabled_events: toJson(body.enabled_events),
    sealed_secrets: sealedSecrets(seal, { tenant, id }, { current: secret }),
    previous_until: null,
    failures: 0,
    disabled_reason: null,
    disabled_at: null,
    created_at: at,
    updated_at: at,
  }
}

/** Those that sign now, the newest first. */
export function secretsOf(seal: Seal, row: EndpointRow, now: number): string[] {
  const { current, previous } = fromJson(row.sealed_secrets)
  const open = (sealed: Sealed, name: keyof Secrets) =>
    seal.open(sealed, secretPlace(row.tenant_id, row.id, name))
  const overlaps = previous !== undefined && isOverlap(row, now)
  return [open(current, 'current'), ...(overlaps ? [open(previous, 'previous')] : [])]
}

const isOverlap = ({ previous_until }: EndpointRow, now: number): boolean =>
  previous_until !== null && Date.parse(previous_until) > now

const byId = (db: Reads, tenant: string, id: string) =>
  db
    .selectFrom('webhook_endpoints')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)

async function found(id: string, query: ReturnType<typeof byId>): Promise<EndpointRow> {
  const row = await query.executeTakeFirst()
  if (!row) throw notFound('webhook endpoint', id)
  return row
}

const change = (db: Queries, tenant: string, id: string, set: Partial<EndpointRow>) =>
  db.updateTable('webhook_endpoints').set(set).where('tenant_id', '=', tenant).where('id', '=', id)

function endpointReads(db: Reads) {
  return {
    find: (tenant: string, id: string) => byId(db, tenant, id).executeTakeFirst(),
    row: (tenant: string, id: string) => found(id, byId(db, tenant, id)),

    async count(tenant: string): Promise<number> {
      const { all } = await db
        .selectFrom('webhook_endpoints')
        .select((eb) => eb.fn.countAll<number>().as('all'))
        .where('tenant_id', '=', tenant)
        .executeTakeFirstOrThrow()
      return Number(all)
    },

    list(tenant: string, paging: Paging): Promise<Listing<EndpointRow>> {
      const rows = db.selectFrom('webhook_endpoints').selectAll().where('tenant_id', '=', tenant)
      const long = ['url', 'description', 'enabled_events', 'sealed_secrets']
      return readPage(tenant, rows, paging, weightOf(...long))
    },

    everyone: (): Promise<Pick<EndpointRow, 'tenant_id' | 'id'>[]> =>
      db.selectFrom('webhook_endpoints').select(['tenant_id', 'id']).execute(),
  }
}

function endpointWrites(db: Queries) {
  return {
    take: (tenant: string, id: string) => found(id, taking(db, byId(db, tenant, id))),

    async insert(row: EndpointRow): Promise<void> {
      await db.insertInto('webhook_endpoints').values(row).execute()
    },

    async update(tenant: string, id: string, set: Partial<EndpointRow>): Promise<void> {
      await change(db, tenant, id, set).execute()
    },

    async remove(tenant: string, id: string): Promise<void> {
      await db
        .deleteFrom('webhook_endpoints')
        .where('tenant_id', '=', tenant)
        .where('id', '=', id)
        .execute()
    },

    /** After a delivery: how many have failed in a row, this one too. */
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

    /** Nothing more goes there, until somebody says otherwise. */
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

/** Endpoints as a workspace has them, and what the server's settings say of their own. */
export const endpointStore = storeOf(endpointReads, endpointWrites)

export const showEndpoint = (row: EndpointRow, now: number): WebhookEndpoint => ({
  id: row.id,
  type: 'webhook_endpoint',
  url: row.url,
  description: row.description,
  enabled_events: fromJson(row.enabled_events),
  status: row.disabled_at === null ? 'enabled' : 'disabled',
  disabled_reason: row.disabled_reason,
  disabled_at: row.disabled_at,
  previous_secret_expires_at: isOverlap(row, now) ? row.previous_until : null,
  created_at: row.created_at,
  updated_at: row.updated_at,
})
