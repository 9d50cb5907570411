import type { MemoryStore } from '@steward/protocol/memory-stores.ts'
import { invalid } from '../../ground/core/errors.ts'
import { iso } from '@steward/base/time.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { defineStore } from '../../ground/database/store-of.ts'
import type { RowOf } from '../../ground/database/rows.ts'
import { rows } from '../../ground/database/rows.ts'

export type StoreRow = RowOf<'memory_stores'>

function storeReads(db: Reads) {
  return {
    /** The revision of each store. Deleted stores are left out. */
    async revisions(tenant: string, ids: readonly string[]): Promise<Map<string, number>> {
      const found = await db
        .selectFrom('memory_stores')
        .select(['id', 'revision'])
        .where('tenant_id', '=', tenant)
        .where('id', 'in', ids)
        .where('deleted_at', 'is', null)
        .execute()
      return new Map(found.map(({ id, revision }) => [id, revision]))
    },

    /** Deleted stores of all tenants whose rows are not removed yet. */
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
    /** Like `getForUpdate`. Throws when the store is archived. */
    async open(tenant: string, id: string): Promise<StoreRow> {
      const row = await rows(db, 'memory_stores').getForUpdate(tenant, id)
      if (row.archived_at !== null)
        throw invalid(`memory store ${id} is archived: it is read, and nothing is written to it`)
      return row
    },

    update: (
      kept: StoreRow,
      change: Partial<
        Pick<StoreRow, 'name' | 'description' | 'metadata' | 'archived_at' | 'deleted_at'>
      >,
      now: number,
    ) => rows(db, 'memory_stores').update(kept, { ...change, updated_at: iso(now) }),

    /** Raises the store's revision, and adds `by` to its number of memories. */
    async moved(tenant: string, id: string, by: 1 | 0 | -1): Promise<void> {
      await db
        .updateTable('memory_stores')
        .where('tenant_id', '=', tenant)
        .where('id', '=', id)
        .set((eb) => ({ memories: eb('memories', '+', by), revision: eb('revision', '+', 1) }))
        .execute()
    },

    /**
     * For a session that is being created: the store exists, is not archived, and stays so until the transaction ends.
     * `at` names the field.
     */
    async getOpenForShare(tenant: string, id: string, at: string): Promise<StoreRow> {
      const row = await rows(db, 'memory_stores').getForShare(tenant, id)
      if (row.archived_at !== null)
        throw invalid(`${at}: memory store ${id} is archived and is attached to no new sessions`)
      return row
    },

    /** Removes at most `most` rows of a deleted store, and its own row last. Returns true when the store is gone. */
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
      await rows(db, 'memory_stores').remove(tenant, id)
      return true
    },
  }
}

/** The rows of memory stores. Memories are in memories.ts, their versions in versions.ts. */
export const memoryStoreStore = defineStore(storeReads, storeWrites)

export const showStore = (row: StoreRow): MemoryStore => ({
  id: row.id,
  type: 'memory_store',
  name: row.name,
  description: row.description,
  metadata: row.metadata,
  agent_id: row.agent_id,
  embedding_model: row.embedding_model,
  vector_index: row.vector_index,
  archived_at: row.archived_at,
  created_at: row.created_at,
  updated_at: row.updated_at,
})
