/** Files that a session brings in: a copy of its own for each, which shares the bytes. */
import { invalid, PlatformError } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import { iso } from '../../core/time.ts'
import type { Queries } from '../../database/database.ts'
import { removeFiles } from '../../files/remove.ts'
import { fileStore, isExpired } from '../../files/store.ts'
import { resourceStore } from './store.ts'

/** Outlives the file it was made from, and does not expire with it. */
export async function copyFile(
  tx: Queries,
  { tenant, session, now }: { tenant: string; session: string; now: number },
  fileId: string,
): Promise<string> {
  const files = fileStore(tx)
  const source = await files.hold(tenant, fileId)
  if (isExpired(source, now) || source.blob_key === null) {
    throw new PlatformError('not_found', `file ${fileId} has expired`, {
      error_code: 'file_expired',
    })
  }
  const id = newId('file')
  await files.insert({
    ...source,
    id,
    session_id: session,
    origin: 'copy',
    expires_at: null,
    created_at: iso(now),
  })
  return id
}

/** The caller holds the session. */
export async function removeResource(
  tx: Queries,
  { tenant, session, now }: { tenant: string; session: string; now: number },
  id: string,
): Promise<void> {
  const resources = resourceStore(tx)
  const { type, file_id } = await resources.row(tenant, session, id)
  if (type === 'github_repository')
    throw invalid('the repositories of a session are fixed at its creation')
  await resources.remove(tenant, session, id)
  if (file_id !== null)
    await removeFiles(tx, tenant, [await fileStore(tx).take(tenant, file_id)], now)
}

/** All files that lie in the session, with its resources: they go with it. */
export async function removeFilesOf(
  tx: Queries,
  { tenant, session, now }: { tenant: string; session: string; now: number },
): Promise<void> {
  await resourceStore(tx).remove(tenant, session)
  await removeFiles(tx, tenant, await fileStore(tx).allOfSession(tenant, session), now)
}
