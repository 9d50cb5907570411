/** Files of a session: each is a copy of its own, which shares the bytes with the original. */
import { PlatformError } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/text/ids.ts'
import { iso } from '@steward/base/time.ts'
import type { Queries } from '../../ground/database/database.ts'
import { rows } from '../../ground/database/rows.ts'
import { removeFiles } from '../../resources/files/remove.ts'
import type { FileRow } from '../../resources/files/store.ts'
import { fileStore, isExpired } from '../../resources/files/store.ts'
import type { SessionRow } from '../rows/sessions.ts'
import type { ResourceKind } from './kind.ts'
import { requestedPathNote, filePaths, resolveFilePath } from './mount-path.ts'
import type { ResourceRow } from '../rows/resources.ts'
import { ofType } from '../rows/resources.ts'

export const fileKind: ResourceKind<'file'> = {
  async attach(tx, context, { type, file_id, mount_path: asked }) {
    const mount_path = asked ?? `/mnt/session/uploads/${file_id}`
    const resolved_path = resolveFilePath(mount_path, `${context.at}mount_path`)
    const copy = await copyFile(tx, context, file_id)
    return { type, mount_path, resolved_path, refers_to: copy, fields: { file_id: copy } }
  },
  async detach(tx, { tenant, now }, { fields }) {
    await removeFiles(
      tx,
      tenant,
      [await rows(tx, 'files').getForUpdate(tenant, fields.file_id)],
      now,
    )
  },
  requestAgain: ({ type, fields, mount_path }) => ({ type, file_id: fields.file_id, mount_path }),
  async findAbsence(read, { tenant, now }, { file_id }) {
    const file = await rows(read, 'files').find(tenant, file_id)
    return !file || isExpired(file, now) ? 'missing' : undefined
  },
  async describe(resources, read, session) {
    const ids = ofType(resources, 'file').map(({ fields }) => fields.file_id)
    const files = await fileStore(read).named(session.tenant_id, ids)
    return (toolHost) =>
      toolHost === undefined || toolHost === 'worker'
        ? ''
        : describeFiles(session, resources, files)
  },
  workerInput: 'files',
  plural: 'files',
  pathsOf: filePaths,
}

/** The copy outlives the original and does not expire with it. */
async function copyFile(
  tx: Queries,
  { tenant, session, now }: { tenant: string; session: string; now: number },
  fileId: string,
): Promise<string> {
  const files = fileStore(tx)
  const source = await rows(tx, 'files').getForShare(tenant, fileId)
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

/** The prompt names at most this many files, because it is part of every request. */
const mostNamed = 50

/**
 * A part of the system prompt. Files that are added later are announced with a tool result, so that the prompt stays
 * the same.
 */
export function describeFiles(
  session: Pick<SessionRow, 'created_at'>,
  rows: readonly ResourceRow[],
  files: readonly FileRow[],
): string {
  const names = new Map(files.map(({ id, filename }) => [id, filename]))
  const lines = ofType(rows, 'file')
    .filter(({ created_at }) => created_at === session.created_at)
    .map(
      (row) => `- ${row.resolved_path}: ${names.get(row.fields.file_id)}${requestedPathNote(row)}`,
    )
  const more = lines.length > mostNamed ? [`and ${lines.length - mostNamed} others`] : []
  const head =
    'Files that people give to this session are read-only and lie at /home/user/files/<file_id>/<filename>, or where ' +
    'they were asked to be; one that comes later is there before your next tool call.'
  if (lines.length === 0) return head
  return [`${head} From the beginning there are:`, ...lines.slice(0, mostNamed), ...more].join('\n')
}
