/** The trail of credentials: each use with its caller and host, each change with its author. It holds no secret. */
import { sql } from 'kysely'
import type { AuditLineQuery } from '@steward/protocol/audit.ts'
import type { WebhookKind } from '@steward/protocol/webhooks.ts'
import { newId } from '../../ground/core/text/ids.ts'
import type { Listing, Paging } from '../../ground/core/text/page.ts'
import { iso } from '@steward/base/time.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import type { SlotFor } from '../../ground/database/statement.ts'
import { statementByForm, insertRows, statement } from '../../ground/database/statement.ts'
import { defineStore } from '../../ground/database/store-of.ts'
import { readPage, rowWeight } from '../../ground/database/listing.ts'
import type { TimeComparison } from '../../ground/database/page-order.ts'
import { timeComparisons } from '../../ground/database/page-order.ts'
import type { Tables } from '../../ground/database/tables.ts'
import { outbox } from '../webhooks/outbox.ts'
import type { Trail } from './trails/trails.ts'
import { auditTrails } from './trails/trails.ts'

/** Columns of a row that is not chained yet. */
const unchained = { seq: null, hash: null }
const begun = { status: null, refreshed: 0, ms: null, ...unchained }

export type NewUse = Omit<UseRow, 'status' | 'refreshed' | 'ms' | 'seq' | 'hash'>
export type LineRow = Tables['audit_lines']
export type UseRow = Tables['credential_uses']
export type ChangeRow = Tables['credential_changes']
export type SecretReadRow = Tables['secret_reads']
export type NewSecretRead = Omit<SecretReadRow, 'id' | 'seq' | 'hash'>

export type AuditAction =
  | 'vault.created'
  | 'vault.updated'
  | 'vault.archived'
  | 'vault.deleted'
  | 'credential.created'
  | 'credential.updated'
  | 'credential.rotated'
  | 'credential.redirected'
  | 'credential.refreshed'
  | 'credential.refresh_failed'
  | 'credential.archived'
  | 'credential.deleted'
  | 'model_card.redirected'

/** The changed vault, credential or model card. */
export type AuditSubject = { vault: string; credential?: string } | { modelCard: string }

/** The author of a change: a caller's key, or a session's call. */
export type AuditActorIds = { api_key_id?: string; session_id?: string }

type AuditFilter = {
  session_id?: string | undefined
  vault_id?: string | undefined
  credential_id?: string | undefined
  model_card_id?: string | undefined
}

type AuditPageQuery = { filter: AuditFilter; moments: readonly TimeComparison[]; paging: Paging }

/** Changes that send a webhook; its resource is the credential, or the vault when the change names no credential. */
const webhookOf: { [change in AuditAction]?: WebhookKind } = {
  'vault.created': 'vault.created',
  'vault.archived': 'vault.archived',
  'vault.deleted': 'vault.deleted',
  'credential.created': 'vault_credential.created',
  'credential.archived': 'vault_credential.archived',
  'credential.deleted': 'vault_credential.deleted',
  'credential.refresh_failed': 'vault_credential.refresh_failed',
}

function auditReads(db: Reads) {
  return {
    /** Newest first unless `paging` says otherwise. */
    async uses(
      tenant: string,
      { filter, moments, paging }: AuditPageQuery,
    ): Promise<Listing<UseRow>> {
      const { session_id, vault_id, credential_id } = filter
      let query = db.selectFrom('credential_uses').selectAll().where('tenant_id', '=', tenant)
      if (session_id) query = query.where('session_id', '=', session_id)
      if (vault_id) query = query.where('vault_id', '=', vault_id)
      if (credential_id) query = query.where('credential_id', '=', credential_id)
      for (const { op, at } of moments) query = query.where('created_at', op, at)
      return readPage(tenant, query, paging, rowWeight('caller', 'server', 'host'))
    },

    async secretReads(
      tenant: string,
      { filter, moments, paging }: AuditPageQuery,
    ): Promise<Listing<SecretReadRow>> {
      const { session_id, vault_id, credential_id } = filter
      let query = db.selectFrom('secret_reads').selectAll().where('tenant_id', '=', tenant)
      if (session_id) query = query.where('session_id', '=', session_id)
      if (vault_id) query = query.where('vault_id', '=', vault_id)
      if (credential_id) query = query.where('credential_id', '=', credential_id)
      for (const { op, at } of moments) query = query.where('created_at', op, at)
      return readPage(tenant, query, paging, rowWeight('name'))
    },

    async changes(
      tenant: string,
      { filter, moments, paging }: AuditPageQuery,
    ): Promise<Listing<ChangeRow>> {
      const { session_id, vault_id, credential_id, model_card_id } = filter
      let query = db.selectFrom('credential_changes').selectAll().where('tenant_id', '=', tenant)
      if (session_id) query = query.where('session_id', '=', session_id)
      if (vault_id) query = query.where('vault_id', '=', vault_id)
      if (credential_id) query = query.where('credential_id', '=', credential_id)
      if (model_card_id) query = query.where('model_card_id', '=', model_card_id)
      for (const { op, at } of moments) query = query.where('created_at', op, at)
      return readPage(tenant, query, paging, rowWeight())
    },
  }
}

type UseEnd = { id: string; status: number; refreshed: boolean; ms: number }

/** Batch sizes. Few, so that each has one prepared statement. */
const endsAtOnce = [64, 8, 1]

/** Both dialects name the columns of `values` column1, column2, …. Postgres reads an uncast value as text. */
const endStatement = statementByForm((count: number) =>
  statement((tx, slot: SlotFor<{ tenant: string; ends: readonly UseEnd[] }>) => {
    const rows = Array.from({ length: count }, (_, index) => {
      const part = (name: keyof UseEnd) => slot(({ ends }) => Number(ends[index]?.[name] ?? 0))
      const id = slot(({ ends }) => ends[index]?.id)
      const [status, refreshed, ms] = [part('status'), part('refreshed'), part('ms')]
      return sql`(${id}, cast(${status} as integer), cast(${refreshed} as integer), cast(${ms} as integer))`
    })
    return sql`update credential_uses set status = e.column2, refreshed = e.column3, ms = e.column4
      from (values ${sql.join(rows)}) as e
      where tenant_id = ${slot(({ tenant }) => tenant)} and id = e.column1`.compile(tx)
  }),
)

function auditWrites(db: Queries) {
  return {
    /** Records uses before their calls are made; `end` adds the results. */
    async begin(uses: readonly NewUse[]): Promise<void> {
      const rows = uses.map((use) => ({ ...use, ...begun }))
      await insertRows(db, 'credential_uses', rows)
    },

    async end(tenant: string, ends: readonly UseEnd[]): Promise<void> {
      for (let at = 0; at < ends.length;) {
        const size = endsAtOnce.find((each) => each <= ends.length - at) ?? 1
        const some = ends.slice(at, at + size).map((end) => ({ ...end, ms: Math.round(end.ms) }))
        await endStatement(size)(db, { tenant, ends: some })
        at += size
      }
    },

    async secretRead(row: NewSecretRead): Promise<void> {
      const fresh = { ...row, id: newId('secret_read'), ...unchained }
      await insertRows(db, 'secret_reads', [fresh])
    },

    async changed(
      tenant: string,
      change: { change: AuditAction; of: AuditSubject; by: AuditActorIds; now: number },
    ): Promise<void> {
      const { of } = change
      const { vault, credential } = 'vault' in of ? of : {}
      await db
        .insertInto('credential_changes')
        .values({
          tenant_id: tenant,
          id: newId('credential_change'),
          vault_id: vault ?? null,
          credential_id: credential ?? null,
          model_card_id: 'modelCard' in of ? of.modelCard : null,
          change: change.change,
          api_key_id: change.by.api_key_id ?? null,
          session_id: change.by.session_id ?? null,
          created_at: iso(change.now),
          ...unchained,
        })
        .execute()
      const kind = webhookOf[change.change]
      if (vault === undefined) return
      const ids = credential === undefined ? { id: vault } : { id: credential, vault_id: vault }
      if (kind) await outbox(db).put(tenant, [kind], ids, change.now)
    },
  }
}

export const auditStore = defineStore(auditReads, auditWrites)

function lineReads(db: Reads) {
  return {
    /** Newest first unless `paging` says otherwise. */
    list(tenant: string, asked: AuditLineQuery, paging: Paging): Promise<Listing<LineRow>> {
      const { action } = asked
      let query = db.selectFrom('audit_lines').selectAll().where('tenant_id', '=', tenant)
      for (const column of ['actor_id', 'credential_id', 'resource_type', 'resource_id'] as const) {
        const value = asked[column]
        if (value !== undefined) query = query.where(column, '=', value)
      }
      if (action?.endsWith('.*')) query = query.where('resource_type', '=', action.slice(0, -2))
      else if (action !== undefined) query = query.where('action', '=', action)
      for (const { op, at } of timeComparisons(asked)) query = query.where('created_at', op, at)
      return readPage(tenant, query, paging, rowWeight('before_fields', 'after_fields'))
    },

    async tenants(): Promise<string[]> {
      const rows = await db
        .selectFrom('workspaces')
        .select('id')
        .where('deleted_at', 'is', null)
        .orderBy('id')
        .execute()
      return rows.map(({ id }) => id)
    },

    /** Tenants with rows in this database, which belongs to one tenant. */
    async owners(): Promise<string[]> {
      const found = new Set<string>()
      for (const trail of auditTrails) {
        const row = await db.selectFrom(trail).select('tenant_id').limit(1).executeTakeFirst()
        if (row) found.add(row.tenant_id)
      }
      return [...found]
    },

    /** Ids and chain numbers of rows created before a time. */
    before: (trail: Trail, tenant: string, before: string, limit: number) =>
      db
        .selectFrom(trail)
        .select(['id', 'seq'])
        .where('tenant_id', '=', tenant)
        .where('created_at', '<', before)
        .orderBy('created_at')
        .limit(limit)
        .execute(),
  }
}

function lineWrites(db: Queries) {
  return {
    /** Rows that exist stay as they are. */
    async insertNew(rows: readonly LineRow[]): Promise<void> {
      await db
        .insertInto('audit_lines')
        .values([...rows])
        .onConflict((conflict) => conflict.columns(['tenant_id', 'id']).doNothing())
        .execute()
    },

    async remove(table: Trail, tenant: string, ids: readonly string[]): Promise<void> {
      await db.deleteFrom(table).where('tenant_id', '=', tenant).where('id', 'in', ids).execute()
    },
  }
}

/** Rows of all trails. */
export const lineStore = defineStore(lineReads, lineWrites)
