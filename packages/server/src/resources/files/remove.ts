/** Removes files: by a caller, with their session, or when they expire. */
import type { Log } from '@steward/base/log.ts'
import type { BlobKeeping } from '../../ground/blobs/blob-keeping.ts'
import { looseBlobStore } from '../../ground/blobs/store.ts'
import { invalid } from '../../ground/core/errors.ts'
import type { Queries } from '../../ground/database/database.ts'
import { runOnEach } from '../../ground/database/database.ts'
import type { Ground } from '../../ground/ground.ts'
import type { FileRow } from './store.ts'
import { fileStore, isExpired } from './store.ts'
import { rows } from '../../ground/database/rows.ts'
import { checkNotHeld, findHold } from '../../ground/database/holds.ts'

const filesAtOnce = 100
/** The metadata of an expired file can be read for this time. [files/expiry] */
const rememberedMs = 30 * 24 * 60 * 60 * 1000

/** Deletes the rows and marks their blobs for removal. */
export async function removeFiles(
  tx: Queries,
  tenant: string,
  rows: readonly FileRow[],
  now: number,
): Promise<void> {
  for (const row of rows) {
    await fileStore(tx).remove(row)
    if (row.blob_key !== null) await looseBlobStore(tx).mark(tenant, row.blob_key, now)
  }
}

/** Refuses to delete a session's own copy, which goes with its resource. */
export async function deleteFile(
  tx: Queries,
  tenant: string,
  id: string,
  now: number,
): Promise<FileRow> {
  const row = await rows(tx, 'files').getForUpdate(tenant, id)
  if (row.origin === 'copy')
    throw invalid(
      `file ${id} is a resource of session ${row.session_id}: remove it from its resources`,
    )
  await checkNotHeld(tx, tenant, `file ${id}`, row.session_id)
  await removeFiles(tx, tenant, [row], now)
  return row
}

/** Removes the bytes. Call it after the commit that deleted the row; a job removes bytes that are left. */
export async function discardBytes(
  { keeping, log }: { keeping: BlobKeeping; log: Log },
  tenant: string,
  key: string | null,
): Promise<void> {
  if (key === null) return
  await keeping
    .discard(tenant, key)
    .catch((error: unknown) => log.warn('bytes could not be removed yet', { error }))
}

/**
 * Removes a hundred files a database at most. Returns true when nothing is left. The job of blobs removes the bytes.
 */
export async function removeExpiredFiles({ databases, clock }: Ground): Promise<boolean> {
  return runOnEach(databases.due(), async (database) => {
    const now = clock.now()
    const due = await fileStore(database.read).expired(now, filesAtOnce)
    await database.write(async (tx) => {
      const files = fileStore(tx)
      for (const { tenant_id, id } of due) {
        const [row] = await files.named(tenant_id, [id])
        if (!row || row.blob_key === null || !isExpired(row, now)) continue
        if (await findHold(tx, tenant_id, row.session_id)) continue
        await files.forgetBytes(row)
        await looseBlobStore(tx).mark(tenant_id, row.blob_key, now)
      }
      await files.removeExpired(now - rememberedMs)
    })
    return due.length < filesAtOnce
  })
}
