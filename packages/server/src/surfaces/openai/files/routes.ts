import type { FileMetadata } from '@steward/protocol/files.ts'
import type { OpenAIFile } from '@steward/protocol/openai/files.ts'
import {
  OpenAIFileFields,
  OpenAIFileForm,
  OpenAIFileListQuery,
  OpenAIFileShown,
} from '@steward/protocol/openai/files.ts'
import { OpenAIDeleted, OpenAIListOf } from '@steward/protocol/openai/lists.ts'
import type { BlobKeeping } from '../../../ground/blobs/blob-keeping.ts'
import { parseInput } from '../../../ground/http/bodies/body.ts'
import type { Route } from '../../../ground/http/route.ts'
import { section } from '../../../ground/http/section.ts'
import type { Ground } from '../../../ground/ground.ts'
import { downloadAnswers, downloadFile } from '../../../resources/files/download.ts'
import { deleteFile, discardBytes } from '../../../resources/files/remove.ts'
import { fileStore, showFile } from '../../../resources/files/store.ts'
import type { UploadLimits } from '../../../resources/files/upload.ts'
import { uploadFile } from '../../../resources/files/upload.ts'
import type { Limits } from '../../../tenants/limits/limits.ts'
import { showOpenAIList, resolvePaging, unixSeconds } from '../page.ts'
import { rows } from '../../../ground/database/rows.ts'

const files = section('The OpenAI surface', ['workspace'], '/openai/v1/files')
const answer = OpenAIFileShown

const showUpload = ({
  id,
  filename,
  size_bytes,
  created_at,
  expires_at,
}: FileMetadata): OpenAIFile => ({
  id,
  object: 'file',
  bytes: size_bytes,
  filename,
  purpose: 'user_data',
  status: 'processed',
  created_at: unixSeconds(created_at),
  ...(expires_at ? { expires_at: unixSeconds(expires_at) } : {}),
})

export function fileRoutes(
  deps: Ground & {
    keeping: BlobKeeping
    fileLimits: UploadLimits
    limits: Limits
  },
): Route[] {
  const { clock, keeping, log, fileLimits, limits } = deps
  const { blobs } = keeping
  // Uploads on this surface name no session.
  const holdSession = async () => {}
  const uploading = { ...deps, limits: fileLimits, quotas: limits.quotas, holdSession }

  return [
    files.raw.post(
      '',
      {
        summary: 'Upload a file',
        description: 'Sessions find the file once their environment names it.',
        form: OpenAIFileForm,
        counted: 'uploads',
        answer,
      },
      async (call, raw) => {
        const file = await uploadFile(uploading, call, raw, (given) => {
          const { 'expires_after[seconds]': seconds } = parseInput(OpenAIFileFields, given)
          return { expires_in_seconds: seconds }
        })
        return showUpload(file)
      },
    ),
    files.get(
      '',
      { summary: 'List files', query: OpenAIFileListQuery, answer: OpenAIListOf(answer) },
      async ({ db, tenant, query }) => {
        const store = fileStore(db.read)
        const page = await resolvePaging(query, (id) => rows(db.read, 'files').get(tenant, id))
        return showOpenAIList(await store.list(tenant, page, undefined), (row) =>
          showUpload(showFile(row)),
        )
      },
    ),
    files.get('/:id', { summary: 'Get a file', answer }, async ({ db, tenant, params }) =>
      showUpload(showFile(await rows(db.read, 'files').get(tenant, params.id))),
    ),
    files.raw.get(
      '/:id/content',
      { summary: 'Download a file', ...downloadAnswers },
      ({ db, tenant, params: { id } }, raw) =>
        downloadFile({ blobs, clock }, { db, tenant, id }, raw),
    ),
    files.delete(
      '/:id',
      {
        summary: 'Delete a file',
        description: 'Sessions that have a copy keep it.',
        answer: OpenAIDeleted('file'),
      },
      async ({ db, tenant, params: { id } }) => {
        const { blob_key } = await db.write((tx) => deleteFile(tx, tenant, id, clock.now()))
        await discardBytes({ keeping, log }, tenant, blob_key)
        return { id, deleted: true, object: 'file' }
      },
    ),
  ]
}
