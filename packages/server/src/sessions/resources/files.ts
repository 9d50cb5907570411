/** Files that a session brings in: a copy of its own for each, which shares the bytes. */
import type { FileResource } from '@steward/protocol/session-resources.ts'
import { invalid, PlatformError } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import { iso } from '../../core/time.ts'
import type { Queries } from '../../database/database.ts'
import { removeFiles } from '../../files/remove.ts'
import { fileStore, isExpired } from '../../files/store.ts'
import { checkFree, checkMountPath } from './mount-path.ts'
import type { ResourceRow } from './store.ts'
import { resourceStore } from './store.ts'

/** behaviours.md 1.15 */
const mostResources = 500

/** The caller holds the session. `at` names the place of each in the request. */
export async function addFiles(
  tx: Queries,
  { tenant, session, now }: { tenant: string; session: string; now: number },
  wanted: readonly FileResource[],
  at: (index: number) => string,
): Promise<ResourceRow[]> {
  const resources = resourceStore(tx)
  const there = (await resources.ofSessions(tenant, [session])).get(session) ?? []
  if (there.length + wanted.length > mostResources)
    throw invalid(`resources: a session has at most ${mostResources}`)
  const paths = there.map(({ mount_path }) => mount_path)
  const added: ResourceRow[] = []
  for (const [index, { file_id, mount_path }] of wanted.entries()) {
    const path = checkMountPath(
      mount_path ?? `/mnt/session/uploads/${file_id}`,
      `${at(index)}mount_path`,
    )
    checkFree(path, paths, `${at(index)}mount_path`)
    paths.push(path)
    const row: ResourceRow = {
      tenant_id: tenant,
      session_id: session,
      id: newId('session_resource'),
      type: 'file',
      file_id: await copy(tx, { tenant, session, now }, file_id),
      mount_path: path,
      created_at: iso(now),
      updated_at: iso(now),
    }
    await resources.insert(row)
    added.push(row)
  }
  return added
}

/** Outlives the file it was made from, and does not expire with it. */
async function copy(
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
  const { file_id } = await resources.row(tenant, session, id)
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
