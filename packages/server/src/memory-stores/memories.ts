import type { Memory } from '@steward/protocol/memory-stores.ts'
import { sql } from 'kysely'
import { notFound } from '../core/errors.ts'
import type { Queries } from '../database/database.ts'
import type { Tables } from '../database/tables.ts'

export type MemoryRow = Tables['memories']
export type MemoryFacts = Omit<MemoryRow, 'content'>

const facts = [
  'tenant_id',
  'id',
  'store_id',
  'version_id',
  'path',
  'sha256',
  'size',
  'created_at',
  'updated_at',
] as const

/** What lies in a store now. Writers hold the store's row (store.ts `open`), so that paths are theirs alone to judge. */
export function memoryStore(db: Queries) {
  const inStore = (tenant: string, store: string) =>
    db.selectFrom('memories').where('tenant_id', '=', tenant).where('store_id', '=', store)

  return {
    async row(tenant: string, store: string, id: string): Promise<MemoryRow> {
      const row = await inStore(tenant, store).selectAll().where('id', '=', id).executeTakeFirst()
      if (!row) throw notFound('memory', id)
      return row
    },

    /** All below a prefix, without contents: at most 2,000. In no order. */
    below: (tenant: string, store: string, prefix: string): Promise<MemoryFacts[]> =>
      inStore(tenant, store).select(facts).where(startsWith(prefix)).execute(),

    contents: (
      tenant: string,
      store: string,
      ids: readonly string[],
    ): Promise<Pick<MemoryRow, 'id' | 'content'>[]> =>
      inStore(tenant, store).select(['id', 'content']).where('id', 'in', ids).execute(),

    /** Everything, for a mount. */
    snapshot: (tenant: string, store: string): Promise<MemoryRow[]> =>
      inStore(tenant, store).selectAll().execute(),

    /** The one at the path, else one that the path would lie below or above. */
    async inTheWay(
      tenant: string,
      store: string,
      path: string,
      except?: string,
    ): Promise<Pick<MemoryRow, 'id' | 'path'> | undefined> {
      const above = path.split('/').slice(1, -1)
      const ancestors = above.map((_, index) => `/${above.slice(0, index + 1).join('/')}`)
      let rows = inStore(tenant, store)
        .select(['id', 'path'])
        .where((eb) => eb.or([eb('path', 'in', [path, ...ancestors]), startsWith(`${path}/`)]))
      if (except) rows = rows.where('id', '!=', except)
      return rows.orderBy('path').limit(1).executeTakeFirst()
    },

    async at(tenant: string, store: string, path: string): Promise<MemoryRow | undefined> {
      return inStore(tenant, store).selectAll().where('path', '=', path).executeTakeFirst()
    },

    async insert(row: MemoryRow): Promise<void> {
      await db.insertInto('memories').values(row).execute()
    },

    async replace({ tenant_id, id, ...columns }: MemoryRow): Promise<void> {
      await db
        .updateTable('memories')
        .set(columns)
        .where('tenant_id', '=', tenant_id)
        .where('id', '=', id)
        .execute()
    },

    async remove(tenant: string, id: string): Promise<void> {
      await db.deleteFrom('memories').where('tenant_id', '=', tenant).where('id', '=', id).execute()
    },
  }
}

/** By characters: LIKE is blind to case on one database, and ranges follow the other's collation. */
const startsWith = (prefix: string) =>
  sql<boolean>`substr(path, 1, ${Array.from(prefix).length}) = ${prefix}`

export const showMemory = (row: MemoryFacts, content: string | null): Memory => ({
  id: row.id,
  type: 'memory',
  memory_store_id: row.store_id,
  memory_version_id: row.version_id,
  path: row.path,
  content,
  content_sha256: row.sha256,
  content_size_bytes: row.size,
  created_at: row.created_at,
  updated_at: row.updated_at,
})
