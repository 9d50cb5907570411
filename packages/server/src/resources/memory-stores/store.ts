import type { MemoryStore } from '@steward/protocol/memory-stores.ts'
import { invalid, notFound } from '../../ground/core/errors.ts'
import type { Listing, Paging } from '../../ground/core/page.ts'
import { iso } from '@steward/base/time.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { storeOf } from '../../ground/database/store-of.ts'
import { readPage, weightOf } from '../../ground/database/listing.ts'
import { holding, taking } from '../../ground/database/lock.ts'
import type { Moment } from '../../ground/database/seek.ts'
import type { Tables } from '../../ground/database/tables.ts'
import { fromJson } from '../../ground/core/json-text.ts'

export type StoreRow = Tables['memory_stores']

const byId = (db: Reads, tenant: string, id: string) =>
  db
    .selectFrom('memory_stores')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)

async function found(id: string, query: ReturnType<typeof byId>): Promise<StoreRow> {
  const row = await query.executeTakeFirst()
  if (!row) throw notFound('memory store', id)
  return row
}

/** No other writer of the store, or of anything in it, until the transaction ends. */
const take = (db: Queries, tenant: string, id: string) =>
  found(id, taking(db, byId(db, tenant, id)))

const change = (db: Queries, tenant: string, id: string) =>
  db.updateTable('memory_stores').where('tenant_id', '=', tenant).where('id', '=', id)

function storeReads(db: Reads) {
  return {
    row: (tenant: string, id: string) => found(id, byId(db, tenant, id)),

    async list(
      tenant: string,
      asked: { paging: Paging; archived: boolean; made: readonly Moment[] },
    ): Promise<Listing<StoreRow>> {
      let rows = db
        .selectFrom('memory_stores')
        .selectAll()
        .where('tenant_id', '=', tenant)
        .where('deleted_at', 'is', null)
      if (!asked.archived) rows = rows.where('archived_at', 'is', null)
      for (const { op, at } of asked.made) rows = rows.where('created_at', op, at)
      return readPage(tenant, rows, asked.paging, weightOf('name', 'description', 'metadata'))
    },

    /** How far each has moved; a deleted one is not among them. */
    async revisions(tenant: string, ids: readonly string[]): Promise<Map<string, number>> {
      const rows = await db
        .selectFrom('memory_stores')
        .select(['id', 'revision'])
        .where('tenant_id', '=', tenant)
        .where('id', 'in', ids)
        .where('deleted_at', 'is', null)
        .execute()
      return new Map(rows.map(({ id, revision }) => [id, revision]))
    },

    /** Those that are deleted and not yet gone, of all tenants. */
    deleted: (most: number): Promise<Pick<StoreRow, 'tenant_id' | 'id'>[]> =>
      db
        .selectFrom('memory_stores')
        .select(['tenant_id', 'id'])
        .where('deleted_at', 'is not', null)
        .limit(most)
        .execute(),
  }
}

function storeWrites(db: Queries) {
  return {
    take: (tenant: string, id: string) => take(db, tenant, id),
    takeIfAny: (tenant: string, id: string) => taking(db, byId(db, tenant, id)).executeTakeFirst(),

    /** As `take`, for a write that an archived store does not take. */
    async open(tenant: string, id: string): Promise<StoreRow> {
      const row = await take(db, tenant, id)
      if (row.archived_at !== null)
        throw invalid(`memory store ${id} is archived: it is read, and nothing is written to it`)
      return row
    },

    async insert(row: StoreRow): Promise<void> {
      await db.insertInto('memory_stores').values(row).execute()
    },

    async update(
      tenant: string,
      id: string,
      columns: Partial<
        Pick<StoreRow, 'name' | 'description' | 'metadata' | 'archived_at' | 'deleted_at'>
      >,
      now: number,
    ): Promise<void> {
      await change(db, tenant, id)
        .set({ ...columns, updated_at: iso(now) })
        .execute()
    },

    /** By how many more memories; it has changed at any rate. */
    async moved(tenant: string, id: string, by: 1 | 0 | -1): Promise<void> {
      await change(db, tenant, id)
        .set((eb) => ({ memories: eb('memories', '+', by), revision: eb('revision', '+', 1) }))
        .execute()
    },

    /** For a session that is made: there, not archived, and so until the transaction ends. `at` names the place. */
    async hold(tenant: string, id: string, at: string): Promise<StoreRow> {
      const row = await found(id, holding(db, byId(db, tenant, id)))
      if (row.archived_at !== null)
        throw invalid(`${at}: memory store ${id} is archived and is attached to no new sessions`)
      return row
    },

    /** Removes at most so many rows of a deleted store, itself last; whether it is gone. */
    async removePart(tenant: string, id: string, most: number): Promise<boolean> {
      for (const table of ['memory_versions', 'memories'] as const) {
        const { numDeletedRows } = await db
          .deleteFrom(table)
          .where('tenant_id', '=', tenant)
          .where('id', 'in', (eb) =>
            eb
              .selectFrom(table)
              .select('id')
              .where('tenant_id', '=', tenant)
              .where('store_id', '=', id)
              .limit(most),
          )
          .executeTakeFirst()
        if (numDeletedRows > 0) return false
      }
      await db
        .deleteFrom('memory_stores')
        .where('tenant_id', '=', tenant)
        .where('id', '=', id)
        .execute()
      return true
    },
  }
}

/** Memory stores as such; what lies in them is memories.ts, how it came to be versions.ts. */
export const memoryStoreStore = storeOf(storeReads, storeWrites)

export const showStore = (row: StoreRow): MemoryStore => ({
  id: row.id,
  type: 'memory_store',
  name: row.name,
  description: row.description,
  metadata: fromJson(row.metadata),
  agent_id: row.agent_id,
  embedding_model: row.embedding_model,
  vector_index: row.vector_index,
  archived_at: row.archived_at,
  created_at: row.created_at,
  updated_at: row.updated_at,
})
