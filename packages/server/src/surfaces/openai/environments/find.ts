/** Reads environments for this surface. */
import type { EnvironmentMounts } from '@steward/protocol/environments.ts'
import { notFound } from '../../../ground/core/errors.ts'
import type { Reads } from '../../../ground/database/database.ts'
import type { RowOf } from '../../../ground/database/rows.ts'
import { rows } from '../../../ground/database/rows.ts'
import { fileStore } from '../../../resources/files/store.ts'
import { sessionStore } from '../../../sessions/rows/sessions.ts'
import { resourceStore } from '../../../sessions/rows/resources.ts'
import { noMounts } from './mounts.ts'

export type EnvironmentRow = RowOf<'environments'>

/** The name of an environment that belongs to one session alone. */
export const ownName = (session: string): string => `of ${session}`

/** The session that the environment belongs to; undefined when there is no such session, or when it is deleted. */
export async function findOwnerSession(
  read: Reads,
  { tenant_id, name, archived_at }: EnvironmentRow,
): Promise<string | undefined> {
  const session = /^of (sesn_\w+)$/.exec(name)?.[1]
  if (archived_at === null || session === undefined) return undefined
  const revision = await sessionStore(read).filesRevision(tenant_id, session)
  return revision === undefined ? undefined : session
}

/** Finds an environment. This surface treats archived environments as deleted. */
export async function findTemplate(
  read: Reads,
  tenant: string,
  id: string,
): Promise<EnvironmentRow> {
  const row = await rows(read, 'environments').get(tenant, id)
  if (row.archived_at !== null) throw notFound('environment', id)
  return row
}

export type MountedFile = { id: string; file_id: string; path: string; size_bytes: number }

/** The files of an environment. With an owner, these are the files of the owner's session. */
export async function listMountedFiles(
  read: Reads,
  row: EnvironmentRow,
  owner: string | undefined,
): Promise<MountedFile[]> {
  const { tenant_id: tenant } = row
  const files = owner
    ? await filesOfSession(read, tenant, owner)
    : (row.record.mounts ?? noMounts).files.map((each) => ({ id: each.file_id, ...each }))
  const sizes = await sizesOf(read, tenant, files)
  return files.map((file) => ({ ...file, size_bytes: sizes.get(file.file_id) ?? 0 }))
}

type NamedFile = EnvironmentMounts['files'][number] & { id: string }

async function filesOfSession(read: Reads, tenant: string, session: string): Promise<NamedFile[]> {
  const resources = await resourceStore(read).ofSession(tenant, session)
  return resources.flatMap((resource) =>
    resource.type === 'file'
      ? [{ id: resource.id, file_id: resource.fields.file_id, path: resource.resolved_path }]
      : [],
  )
}

async function sizesOf(read: Reads, tenant: string, files: readonly { file_id: string }[]) {
  const found = await fileStore(read).named(tenant, [
    ...new Set(files.map(({ file_id }) => file_id)),
  ])
  return new Map(found.map(({ id, size_bytes }) => [id, size_bytes]))
}
