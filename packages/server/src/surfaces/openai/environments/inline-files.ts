/** Files that a request brings with it. They become files of the workspace, which environments and sessions name. */
import { posix } from 'node:path'
import type { OpenAIFileParam } from '@steward/protocol/openai/environments.ts'
import type { Queries } from '../../../ground/database/database.ts'
import type { StagedFile, UploadLimits } from '../../../resources/files/upload.ts'
import { stageFile } from '../../../resources/files/upload.ts'
import type { OpenSessionDeps } from '../../../sessions/open.ts'
import type { NamedFiles } from './mounts.ts'

export type FileDeps = OpenSessionDeps & { fileLimits: UploadLimits }

type WithFiles = { files?: OpenAIFileParam[] | null | undefined }

/** Writes the rows of the files, in the unit of what names them. */
export type KeepFiles = (tx: Queries) => Promise<void>

/**
 * Runs `work` with the given fields, in which each file has an id. `work` calls the given function in its unit, before
 * it looks for the files: so the files are there with what names them, or not at all.
 */
export async function withStagedFiles<Given extends WithFiles, Made>(
  deps: FileDeps,
  tenant: string,
  given: Given,
  work: (named: NamedFiles<Given>, keep: KeepFiles) => Promise<Made>,
): Promise<Made> {
  const staged: StagedFile[] = []
  try {
    const files: { file_id: string; path: string }[] = []
    for (const file of given.files ?? []) {
      const { path } = file
      if (file.type === 'file_id') files.push({ file_id: file.file_id, path })
      else {
        const made = await stageInline(deps, tenant, file)
        staged.push(made)
        files.push({ file_id: made.id, path })
      }
    }
    return await work({ ...given, files: given.files && files }, async (tx) => {
      for (const { keep } of staged) await keep(tx)
    })
  } catch (error) {
    for (const { id, abandon } of staged)
      await abandon().catch((failure: unknown) =>
        deps.log.warn('bytes of a refused request are left to the job', {
          error: failure,
          file_id: id,
        }),
      )
    throw error
  }
}

const stageInline = (
  { fileLimits, limits, ...deps }: FileDeps,
  tenant: string,
  { data, path }: Extract<OpenAIFileParam, { type: 'inline' }>,
): Promise<StagedFile> =>
  stageFile({ ...deps, limits: fileLimits, quotas: limits.quotas }, tenant, {
    filename: posix.basename(path),
    mimeType: 'application/octet-stream',
    body: bytesOf(data),
  })

async function* bytesOf(data: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(data, 'base64')
}
