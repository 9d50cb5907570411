/**
 * Rows and blobs stay together whatever dies when: a blob is marked before it is written, and its mark is lifted with
 * the commit of the row that holds it; a row that goes sets the mark
 * again, in its own commit. What stays marked is swept.
 */
import type { Clock } from '@steward/base/time.ts'
import { runUnaudited } from '../core/audited-call.ts'
import type { Database, Databases, Queries } from '../database/database.ts'
import type { Blobs } from './blobs.ts'
import { looseBlobStore } from './store.ts'

/** Longer than any upload takes. */
const writingMs = 24 * 60 * 60 * 1000
const blobsAtOnce = 100
/** Until what could not be removed is tried again, so that it keeps nobody else waiting. */
const againMs = 60 * 60 * 1000

/** Whether a row holds the blob. Asked within the unit that lifts the mark. */
export type BlobHolder = (tx: Queries, tenant: string, key: string) => Promise<boolean>

export class UnmarkedBlobError extends Error {
  override readonly name = 'UnmarkedBlobError'
}

export type BlobKeeping = ReturnType<typeof blobKeeping>

/** `holders` are all kinds of rows that hold blobs. */
export function blobKeeping({
  databases,
  blobs,
  clock,
  holders,
}: {
  databases: Databases
  blobs: Blobs
  clock: Clock
  holders: readonly BlobHolder[]
}) {
  async function remove(database: Database, tenant: string, key: string): Promise<void> {
    const isLoose = await database.write(async (tx) => {
      const marks = looseBlobStore(tx)
      if (!(await marks.take(tenant, key))) return false
      for (const holder of holders) {
        if (!(await holder(tx, tenant, key))) continue
        await marks.lift(tenant, key)
        return false
      }
      return true
    })
    if (!isLoose) return
    // The key never comes again, so that nothing can begin to hold it meanwhile.
    await blobs.delete(key)
    await database.write((tx) => looseBlobStore(tx).lift(tenant, key))
  }

  /** What was put and gets no row: removed at once, or by the next run of the job. */
  async function abandon(tenant: string, key: string): Promise<void> {
    const database = await databases.open(tenant)
    await runUnaudited(async () => {
      await database.write((tx) => looseBlobStore(tx).mark(tenant, key, clock.now()))
      // Its mark stays where this fails.
      await remove(database, tenant, key).catch(() => {})
    })
  }

  return {
    blobs,

    /**
     * Durable and marked when it resolves; of a body that fails nothing stays. The key must be new. `check` is done with
     * the mark, before anything is read.
     */
    async put(
      tenant: string,
      key: string,
      body: AsyncIterable<Uint8Array>,
      check: (tx: Queries) => Promise<void> = () => Promise.resolve(),
    ): Promise<{ size: number; sha256: string }> {
      const database = await databases.open(tenant)
      await runUnaudited(() =>
        database.write(async (tx) => {
          await check(tx)
          await looseBlobStore(tx).mark(tenant, key, clock.now() + writingMs)
        }),
      )
      try {
        return await blobs.put(key, body)
      } catch (error) {
        // The store may have it all the same, where only its last answer was lost.
        await abandon(tenant, key)
        throw error
      }
    },

    /** With the row that holds it from now on. Throws `UnmarkedBlobError`. */
    async hold(tx: Queries, tenant: string, key: string): Promise<void> {
      if (!(await looseBlobStore(tx).lift(tenant, key)))
        throw new UnmarkedBlobError(`the blob ${key} was swept before its row was written`)
    },

    abandon,

    /** At once what the job would do later: whatever carries its mark is let go. */
    discard: async (tenant: string, key: string) =>
      remove(await databases.open(tenant), tenant, key),

    /** What is due now, a hundred a database at most; whether that was all, and what could not be removed. */
    async removeLoose(): Promise<{ isAll: boolean; failures: unknown[] }> {
      const failures: unknown[] = []
      let isAll = true
      for await (const database of databases.due()) {
        const due = await looseBlobStore(database.read).due(clock.now(), blobsAtOnce)
        for (const { tenant_id, blob_key } of due) {
          try {
            await remove(database, tenant_id, blob_key)
          } catch (error) {
            failures.push(error)
            const later = clock.now() + againMs
            await database.write((tx) => looseBlobStore(tx).mark(tenant_id, blob_key, later))
          }
        }
        if (due.length === blobsAtOnce) isAll = false
      }
      return { isAll, failures }
    },
  }
}
