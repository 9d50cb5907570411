import type { ApiKey } from '@steward/protocol/api-keys.ts'
import { notFound } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import type { Paging } from '../core/page.ts'
import { iso } from '../core/time.ts'
import { hashToken, preview } from '../core/token.ts'
import type { Queries } from '../database/database.ts'
import { seek } from '../database/seek.ts'
import type { Tables } from '../database/tables.ts'

type Row = Tables['api_keys']
export type NewKey = {
  key: string
  name: string
  kind: Row['kind']
  admin: boolean
  environmentId: string | null
  expiresAt: string | null
}

/** Hashes only: whoever holds the key proves it, nobody can read it. */
export function apiKeyStore(db: Queries) {
  return {
    async create(tenant: string, made: NewKey, now: number): Promise<ApiKey> {
      const row: Row = {
        tenant_id: tenant,
        id: newId('api_key'),
        kind: made.kind,
        name: made.name,
        admin: made.admin ? 1 : 0,
        environment_id: made.environmentId,
        hash: hashToken(made.key),
        preview: preview(made.key),
        expires_at: made.expiresAt,
        revoked_at: null,
        created_at: iso(now),
      }
      await db.insertInto('api_keys').values(row).execute()
      return toKey(row)
    },

    async list(tenant: string, paging: Paging): Promise<ApiKey[]> {
      const { begins, way } = seek(paging)
      const rows = await db
        .selectFrom('api_keys')
        .selectAll()
        .where('tenant_id', '=', tenant)
        .where('revoked_at', 'is', null)
        .where(begins)
        .orderBy('created_at', way)
        .orderBy('id', way)
        .limit(paging.limit + 1)
        .execute()
      return rows.map(toKey)
    },

    /** Gives the hash of the key that works no longer. */
    async revoke(tenant: string, id: string, now: number): Promise<string> {
      const row = await db
        .updateTable('api_keys')
        .set({ revoked_at: iso(now) })
        .where('tenant_id', '=', tenant)
        .where('id', '=', id)
        .where('revoked_at', 'is', null)
        .returning('hash')
        .executeTakeFirst()
      if (!row) throw notFound('api key', id)
      return row.hash
    },

    /** Across tenants: the one look-up that finds out whose key it is. */
    byHash: (hash: string): Promise<Row | undefined> =>
      db.selectFrom('api_keys').selectAll().where('hash', '=', hash).executeTakeFirst(),
  }
}

const toKey = (row: Row): ApiKey => ({
  id: row.id,
  type: 'api_key',
  name: row.name,
  kind: row.kind,
  admin: row.admin === 1,
  environment_id: row.environment_id,
  preview: row.preview,
  expires_at: row.expires_at,
  revoked_at: row.revoked_at,
  created_at: row.created_at,
})
