import type { ApiKey } from '@steward/protocol/api-keys.ts'
import { isAudited, auditChange } from '../../ground/core/security/audited-call.ts'
import { newId } from '../../ground/core/text/ids.ts'
import type { IdSide, Listing, Paging } from '../../ground/core/text/page.ts'
import { mapListing } from '../../ground/core/text/page.ts'
import { iso } from '@steward/base/time.ts'
import { hashToken, previewToken } from '../../ground/core/security/token.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import type { SlotFor } from '../../ground/database/statement.ts'
import { selectStatement } from '../../ground/database/statement.ts'
import { defineStore } from '../../ground/database/store-of.ts'
import { readPage, rowWeight } from '../../ground/database/listing.ts'
import { getWorkspaceForShare, forUpdate } from '../../ground/database/lock.ts'
import type { Tables } from '../../ground/database/tables.ts'

type ApiKeyRow = Tables['api_keys']
export type KeyRow = ApiKeyRow
export type KeyOfPerson = ApiKeyRow & { kind: 'workspace' | 'environment' }
export type NewKey = {
  /** SECRET: never logged. */
  key: string
  name: string
  kind: ApiKeyRow['kind']
  admin: boolean
  environmentId: string | null
  /** Environment keys only. */
  reach?: ApiKeyRow['reach']
  expiresAt: string | null
  readOnly?: boolean
  /** Id of the person or the key that creates this key. */
  createdBy?: string
}

/** What is left out does not narrow the list. */
type KeyFilter = {
  from: IdSide | undefined
  limit: number
  status: 'active' | 'inactive' | 'expired' | 'archived' | undefined
  createdBy: string | undefined
  now: number
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
    /** `environment`: only keys of this environment. */
    async list(tenant: string, paging: Paging, environment?: string): Promise<Listing<ApiKey>> {
      const all = unrevoked(db, tenant)
      const keys = environment === undefined ? all : all.where('environment_id', '=', environment)
      const listing = await readPage(tenant, keys, paging, rowWeight('name'))
      return mapListing(listing, toKey)
    },

    /** Finds revoked keys too. */
    get: (tenant: string, id: string): Promise<ApiKeyRow | undefined> =>
      db
        .selectFrom('api_keys')
        .selectAll()
        .where('tenant_id', '=', tenant)
        .where('id', '=', id)
        .executeTakeFirst(),

    /** Keys beside another key, revoked keys too: newest first, and oldest first where the others stand after them. */
    beside(
      tenant: string,
      { from, limit, status, createdBy, now }: KeyFilter,
    ): Promise<ApiKeyRow[]> {
      const isBefore = from?.side === 'before'
      let keys = db.selectFrom('api_keys').selectAll().where('tenant_id', '=', tenant)
      if (from) keys = keys.where('id', isBefore ? '>' : '<', from.id)
      if (createdBy) keys = keys.where('created_by', '=', createdBy)
      const isRevoked = status === 'inactive' || status === 'archived'
      if (status) keys = keys.where('revoked_at', isRevoked ? 'is not' : 'is', null)
      if (isRevoked) keys = keys.where('archived_at', status === 'archived' ? 'is not' : 'is', null)
      if (status === 'expired') keys = keys.where('expires_at', '<=', iso(now))
      if (status === 'active')
        keys = keys.where((eb) =>
          eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', iso(now))]),
        )
      return keys
        .orderBy('id', isBefore ? 'asc' : 'desc')
        .limit(limit)
        .execute()
    },

    /** The key unless it is revoked. An expired key is found. */
    active: (tenant: string, id: string): Promise<ApiKeyRow | undefined> =>
      unrevoked(db, tenant).where('id', '=', id).executeTakeFirst(),

    /** Across tenants. */
    byId: (id: string): Promise<ApiKeyRow | undefined> =>
      db.selectFrom('api_keys').selectAll().where('id', '=', id).executeTakeFirst(),

    /** Valid keys, oldest first. */
    async allValid(tenant: string, now: number): Promise<ApiKey[]> {
      const rows = await unrevoked(db, tenant)
        .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', iso(now))]))
        .orderBy('created_at')
        .orderBy('id')
        .execute()
      return rows.map(toKey)
    },

    /** Valid keys that the person has created, logins excepted, in `tenant` or in all workspaces. */
    async madeBy(person: string, now: number, tenant?: string): Promise<KeyOfPerson[]> {
      const made = db
        .selectFrom('api_keys')
        .selectAll()
        .where('created_by', '=', person)
        .where('kind', '<>', 'oauth')
        .where('revoked_at', 'is', null)
        .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', iso(now))]))
      const some = tenant === undefined ? made : made.where('tenant_id', '=', tenant)
      return some
        .orderBy('tenant_id')
        .orderBy('id')
        .$narrowType<{ kind: KeyOfPerson['kind'] }>()
        .execute()
    },

    /** Across tenants: the ids among `ids` whose keys are valid now. */
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

    /** Across tenants: finds the key of a request. */
    byHash: async (hash: string): Promise<ApiKeyRow | undefined> => (await keyByHash(db, hash))[0],
  }
}

function keyWrites(db: Queries) {
  async function end(
    tenant: string,
    id: string,
    set: { revoked_at: string; archived_at?: string },
  ): Promise<void> {
    await db
      .updateTable('api_keys')
      .set(set)
      .where('tenant_id', '=', tenant)
      .where('id', '=', id)
      .execute()
    const after = { revoked_at: set.revoked_at }
    auditChange({ type: 'api_key', id, before: { revoked_at: null }, after })
  }

  return {
    async create(tenant: string, made: NewKey, now: number): Promise<ApiKey> {
      await getWorkspaceForShare(db, tenant)
      const row: ApiKeyRow = {
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
        client_id: null,
        role: null,
        expires_at: made.expiresAt,
        revoked_at: null,
        archived_at: null,
        created_at: iso(now),
      }
      await db.insertInto('api_keys').values(row).execute()
      auditChange({ type: 'api_key', id: row.id, after: toKey(row) })
      return toKey(row)
    },

    /** Locks the admin keys until the transaction ends, and returns the ids of the valid ones. */
    async adminsForUpdate(tenant: string, now: number): Promise<string[]> {
      const admins = unrevoked(db, tenant).where('admin', '=', 1).orderBy('id')
      const rows = await forUpdate(db, admins).execute()
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

    /** Revokes all keys of the tenant; returns the revoked ones, for the notification of other processes. */
    revokeAll: (tenant: string, now: number): Promise<{ id: string; hash: string }[]> =>
      db
        .updateTable('api_keys')
        .set({ revoked_at: iso(now), archived_at: iso(now) })
        .where('tenant_id', '=', tenant)
        .where('revoked_at', 'is', null)
        .returning(['id', 'hash'])
        .execute(),

    /** Deletes all keys of a deleted workspace; returns them for the notification of other processes. */
    removeAll: (tenant: string): Promise<{ id: string; hash: string }[]> =>
      db.deleteFrom('api_keys').where('tenant_id', '=', tenant).returning(['id', 'hash']).execute(),

    /** Records `now` as the last use of the keys. */
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

    /** Revokes the key for good. */
    async revoke(tenant: string, id: string, now: number): Promise<void> {
      await end(tenant, id, { revoked_at: iso(now), archived_at: iso(now) })
    },

    /** Revokes the key until it is activated again. */
    async deactivate(tenant: string, id: string, now: number): Promise<void> {
      await end(tenant, id, { revoked_at: iso(now) })
    },

    /** Archives a key that is deactivated. */
    async archive(tenant: string, id: string, now: number): Promise<void> {
      await db
        .updateTable('api_keys')
        .set({ archived_at: iso(now) })
        .where('tenant_id', '=', tenant)
        .where('id', '=', id)
        .execute()
      auditChange({ type: 'api_key', id, after: { archived_at: iso(now) } })
    },

    /** False for a key that is not deactivated, or archived. */
    async activate(tenant: string, id: string): Promise<boolean> {
      await getWorkspaceForShare(db, tenant)
      const found = await db
        .updateTable('api_keys')
        .set({ revoked_at: null })
        .where('tenant_id', '=', tenant)
        .where('id', '=', id)
        .where('revoked_at', 'is not', null)
        .where('archived_at', 'is', null)
        .returning('id')
        .execute()
      if (found.length > 0) auditChange({ type: 'api_key', id, after: { revoked_at: null } })
      return found.length > 0
    },
  }
}

/** Keys are stored as hashes only: a caller can prove a key, and nobody can read it back. */
export const apiKeyStore = defineStore(keyReads, keyWrites)

const toKey = (row: ApiKeyRow): ApiKey => ({
  id: row.id,
  type: 'api_key',
  name: row.name,
  kind: row.kind,
  admin: row.admin === 1,
  read_only: row.read_only === 1,
  environment_id: row.environment_id,
  client_id: row.client_id,
  reach: row.reach,
  preview: row.preview,
  created_by: row.created_by,
  last_used_at: row.last_used_at,
  expires_at: row.expires_at,
  revoked_at: row.revoked_at,
  created_at: row.created_at,
})
