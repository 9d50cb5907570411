/** Files that a request brings with it. They become files of the workspace, which environments and sessions name. */
import { posix } from 'node:path'
import type { OpenAIFileParam } from '@steward/protocol/openai/environments.ts'
import type { TenantRef } from '../../../ground/database/database.ts'
import { deleteFile, discardBytes } from '../../../resources/files/remove.ts'
import type { UploadLimits } from '../../../resources/files/upload.ts'
import { keepFile } from '../../../resources/files/upload.ts'
import type { OpenSessionDeps } from '../../../sessions/open.ts'
import type { NamedFiles } from './mounts.ts'

export type FileDeps = OpenSessionDeps & { fileLimits: UploadLimits }

type WithFiles = { files?: OpenAIFileParam[] | null | undefined }

/**
 * Runs `work` with the given fields, in which each file has an id. When `work` fails, the files that were stored for it
 * are removed again.
 */
export async function withStoredFiles<Given extends WithFiles, Made>(
  deps: FileDeps,
  ref: TenantRef,
  given: Given,
  work: (named: NamedFiles<Given>) => Promise<Made>,
): Promise<Made> {
  const stored: string[] = []
  try {
    const files: { file_id: string; path: string }[] = []
    for (const file of given.files ?? []) {
      const { path } = file
      if (file.type === 'file_id') files.push({ file_id: file.file_id, path })
      else {
        const file_id = await storeInline(deps, ref, file)
        stored.push(file_id)
        files.push({ file_id, path })
      }
    }
    return await work({ ...given, files: given.files && files })
  } catch (error) {
    for (const id of stored) await removeStored(deps, ref, id)
    throw error
  }
}

async function storeInline(
  { fileLimits, limits, ...deps }: FileDeps,
  ref: TenantRef,
  { data, path }: Extract<OpenAIFileParam, { type: 'inline' }>,
): Promise<string> {
  const storage = { ...deps, limits: fileLimits, quotas: limits.quotas }
  const filename = posix.basename(path)
  const mimeType = 'application/octet-stream'
  let made = ''
  const body = bytesOf(data)
  await keepFile(storage, ref, { filename, mimeType, body }, async (_tx, id) => void (made = id))
  return made
}

async function* bytesOf(data: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(data, 'base64')
}

async function removeStored(
  { keeping, log, clock }: FileDeps,
  { db, tenant }: TenantRef,
  id: string,
): Promise<void> {
  try {
    const { blob_key } = await db.write((tx) => deleteFile(tx, tenant, id, clock.now()))
    await discardBytes({ keeping, log }, tenant, blob_key)
  } catch (error) {
    log.warn('a file of a refused request was not removed', { error, file_id: id })
  }
}
