import { sql } from 'kysely'
import type { Queries, Reads } from '../database/database.ts'
import { defineStore } from '../database/store-of.ts'
import { forUpdate } from '../database/lock.ts'

const one = (db: Reads, tenant: string, key: string) =>
  db
    .selectFrom('loose_blobs')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('blob_key', '=', key)

function looseReads(db: Reads) {
  return {
    /** Number of blobs with the prefix that are being written or have no row yet. */
    async pending(tenant: string, prefix: string, now: number): Promise<number> {
      const { count } = await db
        .selectFrom('loose_blobs')
        .select((eb) => eb.fn.countAll<number | string>().as('count'))
        .where('tenant_id', '=', tenant)
        .where(sql<boolean>`substr(blob_key, 1, ${prefix.length}) = ${prefix}`)
        .where('due_ms', '>', now)
        .executeTakeFirstOrThrow()
      return Number(count)
    },

    /** Due marks of all tenants, the oldest first. */
    due: (now: number, limit: number) =>
      db
        .selectFrom('loose_blobs')
        .selectAll()
        .where('due_ms', '<=', now)
        .orderBy('due_ms')
        .limit(limit)
        .execute(),
  }
}

function looseWrites(db: Queries) {
  return {
    /** Marks the blob. A job deletes it after the time, unless a row holds it by then. */
    async mark(tenant: string, key: string, dueMs: number): Promise<void> {
      await db
        .insertInto('loose_blobs')
        .values({ tenant_id: tenant, blob_key: key, due_ms: dueMs })
        .onConflict((conflict) =>
          conflict.columns(['tenant_id', 'blob_key']).doUpdateSet({ due_ms: dueMs }),
        )
        .execute()
    },

    /** Returns false when there is no mark: the blob may be deleted, so no row may begin to hold it. */
    async lift(tenant: string, key: string): Promise<boolean> {
      const { numDeletedRows } = await db
        .deleteFrom('loose_blobs')
        .where('tenant_id', '=', tenant)
        .where('blob_key', '=', key)
        .executeTakeFirst()
      return numDeletedRows > 0n
    },

    /** Returns true when there is a mark. Nobody else sets or lifts it until the transaction ends. */
    async isMarkedForUpdate(tenant: string, key: string): Promise<boolean> {
      return (await forUpdate(db, one(db, tenant, key)).executeTakeFirst()) !== undefined
    },
  }
}

/** Marks of blobs without a row. A mark is set and lifted in the transaction that writes the row. */
export const looseBlobStore = defineStore(looseReads, looseWrites)
