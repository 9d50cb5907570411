import type { Memory } from '@steward/protocol/memory-stores.ts'
import type { ExpressionBuilder } from 'kysely'
import { notFound } from '../../ground/core/errors.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { defineStore } from '../../ground/database/store-of.ts'
import { readListing, rowWeight } from '../../ground/database/listing.ts'
import type { Tables } from '../../ground/database/tables.ts'

export type MemoryRow = Tables['memories']
export type MemoryFacts = Omit<MemoryRow, 'content'>
export type MemoryDetail = 'basic' | 'full'

/**
 * Paths that begin with `prefix` and come after `after`. When `after` is a folder, all paths
 * below it are skipped.
 */
export type PathRange = { prefix: string; after?: string | undefined }

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

const inStore = (db: Reads, tenant: string, store: string) =>
  db.selectFrom('memories').where('tenant_id', '=', tenant).where('store_id', '=', store)

const inRange = (db: Reads, tenant: string, store: string, { prefix, after }: PathRange) => {
  const rows = inStore(db, tenant, store).where(below(prefix)).orderBy('path')
  if (after === undefined) return rows
  return after.endsWith('/')
    ? rows.where('path', '>=', behind(after))
    : rows.where('path', '>', after)
}

function memoryReads(db: Reads) {
  return {
    async row(tenant: string, store: string, id: string): Promise<MemoryRow> {
      const row = await inStore(db, tenant, store)
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirst()
      if (!row) throw notFound('memory', id)
      return row
    },

    at: (tenant: string, store: string, path: string): Promise<MemoryRow | undefined> =>
      inStore(db, tenant, store).selectAll().where('path', '=', path).executeTakeFirst(),

    facts: (tenant: string, store: string, range: PathRange, limit: number) =>
      readListing(tenant, inRange(db, tenant, store, range).select(facts), {
        limit,
        weight: rowWeight('path'),
      }),

    whole: (tenant: string, store: string, range: PathRange, limit: number) =>
      readListing(tenant, inRange(db, tenant, store, range).selectAll(), {
        limit,
        weight: rowWeight('path', 'content'),
      }),

    /** All paths, without contents: an index holds them, and there are at most 2,000. */
    async paths(tenant: string, store: string, range: PathRange): Promise<string[]> {
      const rows = await inRange(db, tenant, store, range).select('path').execute()
      return rows.map(({ path }) => path)
    },

    hashes: (tenant: string, store: string): Promise<Pick<MemoryRow, 'path' | 'sha256'>[]> =>
      inStore(db, tenant, store).select(['path', 'sha256']).execute(),

    factsAt: (tenant: string, store: string, paths: readonly string[]): Promise<MemoryFacts[]> =>
      inStore(db, tenant, store).select(facts).where('path', 'in', paths).execute(),

    wholeAt: (tenant: string, store: string, paths: readonly string[]): Promise<MemoryRow[]> =>
      inStore(db, tenant, store).selectAll().where('path', 'in', paths).execute(),

    /** The memory at the path, or a memory that the path would lie below or above. */
    inTheWay: (
      tenant: string,
      store: string,
      path: string,
      except = '',
    ): Promise<Pick<MemoryRow, 'id' | 'path'> | undefined> =>
      inStore(db, tenant, store)
        .select(['id', 'path'])
        .where((eb) => eb.or([eb('path', 'in', [path, ...above(path)]), below(`${path}/`)(eb)]))
        .where('id', '!=', except)
        .orderBy('path')
        .limit(1)
        .executeTakeFirst(),
  }
}

function memoryWrites(db: Queries) {
  return {
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

/**
 * The current memories of stores, ordered by the bytes of their paths. Writers lock the store's row (store.ts), so that
 * no other writer moves a memory.
 */
export const memoryRows = defineStore(memoryReads, memoryWrites)

/** The folders that contain a path. */
function above(path: string): string[] {
  const names = path.split('/').slice(1, -1)
  return names.map((_, index) => `/${names.slice(0, index + 1).join('/')}`)
}

/** The first text after all paths in a folder: `0` is the character after `/`. */
const behind = (folder: string): string => `${folder.slice(0, -1)}0`
/** The last text that begins so: no character comes after this one. */
const lastWith = (prefix: string): string => `${prefix}\u{10ffff}`

const below = (prefix: string) => (eb: ExpressionBuilder<Tables, 'memories'>) =>
  eb.and([
    eb('path', '>=', prefix),
    eb('path', '<', prefix.endsWith('/') ? behind(prefix) : lastWith(prefix)),
  ])

export const showMemory = (
  row: MemoryFacts & { content?: string },
  view: MemoryDetail,
): Memory => ({
  id: row.id,
  type: 'memory',
  memory_store_id: row.store_id,
  memory_version_id: row.version_id,
  path: row.path,
  content: view === 'full' ? (row.content ?? null) : null,
  content_sha256: row.sha256,
  content_size_bytes: row.size,
  created_at: row.created_at,
  updated_at: row.updated_at,
})
