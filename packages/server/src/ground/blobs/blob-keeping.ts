/**
 * Keeps rows and blobs consistent whenever a process dies. A blob is marked before it is written. The commit of the row
 * that holds the blob lifts the mark, and the commit that deletes the row sets it again. A job deletes marked blobs.
 */
import type { Clock } from '@steward/base/time.ts'
import { runUnaudited } from '../core/security/audited-call.ts'
import { BlobStoreError } from '../core/errors.ts'
import type { Database, Databases, Queries } from '../database/database.ts'
import { runOnEach } from '../database/database.ts'
import type { Blobs } from './blobs.ts'
import { looseBlobStore } from './store.ts'

/** Milliseconds until a mark is due: longer than any upload. */
const writingMs = 24 * 60 * 60 * 1000
const blobsAtOnce = 100
/** Milliseconds until a failed deletion is tried again, so that it does not block the others. */
const againMs = 60 * 60 * 1000

/** Returns true when a row holds the blob. Called within the unit that lifts the mark. */
export type BlobHolder = (tx: Queries, tenant: string, key: string) => Promise<boolean>

export class UnmarkedBlobError extends Error {
  override readonly name = 'UnmarkedBlobError'
}

export type BlobKeeping = ReturnType<typeof blobKeeping>

/** `holders`: one function for each kind of row that holds blobs. */
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
      if (!(await marks.isMarkedForUpdate(tenant, key))) return false
      for (const holder of holders) {
        if (!(await holder(tx, tenant, key))) continue
        await marks.lift(tenant, key)
        return false
      }
      return true
    })
    if (!isLoose) return
    // Keys are never used again, so no row can begin to hold the blob meanwhile.
    await blobs.delete(key)
    await database.write((tx) => looseBlobStore(tx).lift(tenant, key))
  }

  async function leaveToJob(tenant: string, key: string): Promise<Database> {
    const database = await databases.open(tenant)
    await database.write((tx) => looseBlobStore(tx).mark(tenant, key, clock.now()))
    return database
  }

  /** Deletes a blob that gets no row, at once or in the next run of the job. */
  async function abandon(tenant: string, key: string): Promise<void> {
    await runUnaudited(async () => {
      const database = await leaveToJob(tenant, key)
      // When this fails, the mark stays for the job.
      await remove(database, tenant, key).catch(() => {})
    })
  }

  return {
    blobs,

    /**
     * Writes a blob under a new key. It is durable and marked when the promise resolves; a body that fails leaves
     * nothing. `check` runs in the unit of the mark, before the body is read.
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
        // The store may have the blob nevertheless, if only its last answer was lost. One that is away holds up nobody.
        if (error instanceof BlobStoreError) await runUnaudited(() => leaveToJob(tenant, key))
        else await abandon(tenant, key)
        throw error
      }
    },

    /** Lifts the mark, in the unit of the row that holds the blob. Throws `UnmarkedBlobError` for a deleted blob. */
    async hold(tx: Queries, tenant: string, key: string): Promise<void> {
      if (!(await looseBlobStore(tx).lift(tenant, key)))
        throw new UnmarkedBlobError(`the blob ${key} was deleted before its row was written`)
    },

    abandon,

    /** Deletes a marked blob now instead of in the next run of the job. */
    discard: async (tenant: string, key: string) =>
      remove(await databases.open(tenant), tenant, key),

    /** Deletes blobs whose mark is due, at most 100 a database. `isAll`: none is left. */
    async removeLoose(): Promise<{ isAll: boolean; failures: unknown[] }> {
      const failures: unknown[] = []
      const isAll = await runOnEach(databases.due(), async (database) => {
        const due = await looseBlobStore(database.read).due(clock.now(), blobsAtOnce)
        for (const { tenant_id, blob_key } of due) {
          try {
            await remove(database, tenant_id, blob_key)
          } catch (error) {
            failures.push(error)
            if (error instanceof BlobStoreError) return true
            const later = clock.now() + againMs
            await database.write((tx) => looseBlobStore(tx).mark(tenant_id, blob_key, later))
          }
        }
        return due.length < blobsAtOnce
      })
      return { isAll, failures }
    },
  }
}
