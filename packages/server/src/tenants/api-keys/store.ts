import type { ApiKey } from '@steward/protocol/api-keys.ts'
import { isAudited, auditChange } from '../../ground/core/audited-call.ts'
import { newId } from '../../ground/core/ids.ts'
import type { Listing, Paging } from '../../ground/core/page.ts'
import { listingOf } from '../../ground/core/page.ts'
import { iso } from '@steward/base/time.ts'
import { hashToken, previewToken } from '../../ground/core/token.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import type { SlotFor } from '../../ground/database/statement.ts'
import { selectStatement } from '../../ground/database/statement.ts'
import { storeOf } from '../../ground/database/store-of.ts'
import { readPage, weightOf } from '../../ground/database/listing.ts'
import { lockWorkspace, lockForUpdate } from '../../ground/database/lock.ts'
import type { Tables } from '../../ground/database/tables.ts'

type Row = Tables['api_keys']
export type KeyRow = Row
export type NewKey = {
  /** SECRET: never logged. */
  key: string
  name: string
  kind: Row['kind']
  admin: boolean
  environmentId: string | null
  /** Of an environment key. */
  reach?: Row['reach']
  expiresAt: string | null
  readOnly?: boolean
  /** The person or the key that makes it. */
  createdBy?: string
}

const unrevoked = (db: Reads, tenant: string) =>
  db
    .selectFrom('api_keys')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('revoked_at', 'is', null)

const keyByHash = selectStatement((db, slot: SlotFor<string>) =>
  db
    .selectFrom('api_keys')
    .selectAll()
    .where(
      'hash',
      '=',
      slot((hash) => hash),
    ),
)

function keyReads(db: Reads) {
  return {
    async list(tenant: string, paging: Paging): Promise<Listing<ApiKey>> {
      const listing = await readPage(tenant, unrevoked(db, tenant), paging, weightOf('name'))
      return listingOf(listing, toKey)
    },

    /** Whether it is revoked or not. */
    get: (tenant: string, id: string): Promise<Row | undefined> =>
      db
        .selectFrom('api_keys')
        .selectAll()
        .where('tenant_id', '=', tenant)
        .where('id', '=', id)
        .executeTakeFirst(),

    /** Those made before the one named, the newest first, revoked ones too. */
    before(
      tenant: string,
      { after, limit }: { after: string | undefined; limit: number },
    ): Promise<Row[]> {
      const all = db.selectFrom('api_keys').selectAll().where('tenant_id', '=', tenant)
      const some = after === undefined ? all : all.where('id', '<', after)
      return some.orderBy('id', 'desc').limit(limit).execute()
    },

    /** A key that is not revoked. */
    active: (tenant: string, id: string): Promise<Row | undefined> =>
      unrevoked(db, tenant).where('id', '=', id).executeTakeFirst(),

    /** Across tenants. */
    byId: (id: string): Promise<Row | undefined> =>
      db.selectFrom('api_keys').selectAll().where('id', '=', id).executeTakeFirst(),

    /** The oldest first. */
    async allValid(tenant: string, now: number): Promise<ApiKey[]> {
      const rows = await unrevoked(db, tenant)
        .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', iso(now))]))
        .orderBy('created_at')
        .orderBy('id')
        .execute()
      return rows.map(toKey)
    },

    /** Keys that the person has made and that are valid: of one workspace, or of all. */
    async madeBy(person: string, now: number, tenant?: string): Promise<Row[]> {
      const made = db
        .selectFrom('api_keys')
        .selectAll()
        .where('created_by', '=', person)
        .where('revoked_at', 'is', null)
        .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', iso(now))]))
      const some = tenant === undefined ? made : made.where('tenant_id', '=', tenant)
      return some.orderBy('tenant_id').orderBy('id').execute()
    },

    /** Across tenants: which of these keys, by their ids, are valid now. */
    async validOf(ids: readonly string[], now: number): Promise<Set<string>> {
      const rows = await db
        .selectFrom('api_keys')
        .select(['id', 'expires_at'])
        .where('id', 'in', ids)
        .where('revoked_at', 'is', null)
        .execute()
      const valid = rows.filter(({ expires_at: end }) => end === null || Date.parse(end) > now)
      return new Set(valid.map(({ id }) => id))
    },

    /** Across tenants: the one look-up that finds out whose key it is. */
    byHash: async (hash: string): Promise<Row | undefined> => (await keyByHash(db, hash))[0],
  }
}

function keyWrites(db: Queries) {
  return {
    async create(tenant: string, made: NewKey, now: number): Promise<ApiKey> {
      await lockWorkspace(db, tenant)
      const row: Row = {
        tenant_id: tenant,
        id: newId('api_key'),
        kind: made.kind,
        name: made.name,
        admin: made.admin ? 1 : 0,
        environment_id: made.environmentId,
        reach: made.reach ?? null,
        read_only: made.readOnly ? 1 : 0,
        created_by: made.createdBy ?? null,
        last_used_at: null,
        hash: hashToken(made.key),
        preview: previewToken(made.key),
        expires_at: made.expiresAt,
        revoked_at: null,
        created_at: iso(now),
      }
      await db.insertInto('api_keys').values(row).execute()
      auditChange({ type: 'api_key', id: row.id, after: toKey(row) })
      return toKey(row)
    },

    /** The ids of the admin keys that are valid now; no other transaction revokes one until this one ends. */
    async takeAdmins(tenant: string, now: number): Promise<string[]> {
      const admins = unrevoked(db, tenant).where('admin', '=', 1).orderBy('id')
      const rows = await lockForUpdate(db, admins).execute()
      return rows
        .filter(({ expires_at }) => expires_at === null || Date.parse(expires_at) > now)
        .map(({ id }) => id)
    },

    async rename(tenant: string, id: string, name: string): Promise<void> {
      await db
        .updateTable('api_keys')
        .set({ name })
        .where('tenant_id', '=', tenant)
        .where('id', '=', id)
        .execute()
      auditChange({ type: 'api_key', id, after: { name } })
    },

    /** All that are valid; returns what other processes are told. */
    revokeAll: (tenant: string, now: number): Promise<{ id: string; hash: string }[]> =>
      db
        .updateTable('api_keys')
        .set({ revoked_at: iso(now) })
        .where('tenant_id', '=', tenant)
        .where('revoked_at', 'is', null)
        .returning(['id', 'hash'])
        .execute(),

    /** Of a workspace that is deleted; returns what other processes are told. */
    removeAll: (tenant: string): Promise<{ id: string; hash: string }[]> =>
      db.deleteFrom('api_keys').where('tenant_id', '=', tenant).returning(['id', 'hash']).execute(),

    /** That the keys were used by the time. */
    async noteUses(ids: readonly string[], now: number): Promise<void> {
      const used = db.selectFrom('api_keys').select(['tenant_id', 'id', 'name'])
      const first = used.where('id', 'in', ids).where('last_used_at', 'is', null)
      for (const { tenant_id: workspace, id, name } of isAudited() ? await first.execute() : []) {
        const actor = { type: 'api_key', id, name } as const
        auditChange({ action: 'api_key.first_use', type: 'api_key', id, workspace, actor })
      }
      await db
        .updateTable('api_keys')
        .set({ last_used_at: iso(now) })
        .where('id', 'in', ids)
        .execute()
    },

    async revoke(tenant: string, id: string, now: number): Promise<void> {
      await db
        .updateTable('api_keys')
        .set({ revoked_at: iso(now) })
        .where('tenant_id', '=', tenant)
        .where('id', '=', id)
        .execute()
      const after = { revoked_at: iso(now) }
      auditChange({ type: 'api_key', id, before: { revoked_at: null }, after })
    },
  }
}

/** Hashes only: whoever holds the key proves it, nobody can read it. */
export const apiKeyStore = storeOf(keyReads, keyWrites)

const toKey = (row: Row): ApiKey => ({
  id: row.id,
  type: 'api_key',
  name: row.name,
  kind: row.kind,
  admin: row.admin === 1,
  read_only: row.read_only === 1,
  environment_id: row.environment_id,
  reach: row.reach,
  preview: row.preview,
  created_by: row.created_by,
  last_used_at: row.last_used_at,
  expires_at: row.expires_at,
  revoked_at: row.revoked_at,
  created_at: row.created_at,
})
