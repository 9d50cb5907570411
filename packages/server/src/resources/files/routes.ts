import { FileForm, FileListQuery, FileShown } from '@steward/protocol/files.ts'
import { ListOf } from '@steward/protocol/primitives.ts'
import { invalid } from '../../ground/core/errors.ts'
import type { Paging } from '../../ground/core/text/page.ts'
import { buildPage, readPaging } from '../../ground/core/text/page.ts'
import type { TenantRef } from '../../ground/database/database.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import { downloadAnswers, downloadFile } from './download.ts'
import { deleteFile, discardBytes } from './remove.ts'
import type { FileRow } from './store.ts'
import { fileStore, showFile } from './store.ts'
import type { UploadDeps } from './upload.ts'
import { uploadFile } from './upload.ts'
import { rows } from '../../ground/database/rows.ts'

const files = section('Files', ['workspace'], '/v1/files')

const withClaim = ['workspace', 'claim'] as const
const answer = FileShown
const mostIds = 100

export function fileRoutes(deps: UploadDeps): Route[] {
  const { clock, keeping, log } = deps
  const { blobs } = keeping

  /** A page around a file id, as the oldest clients request it. */
  async function beside(
    { db, tenant }: TenantRef,
    page: Paging,
    query: { after_id?: string; before_id?: string },
  ) {
    const id = query.after_id ?? query.before_id
    if (id === undefined || page.from) return page
    const { created_at } = await rows(db.read, 'files').get(tenant, id)
    const side = query.after_id === undefined ? ('before' as const) : ('after' as const)
    return { ...page, from: { side, created_at, id } }
  }

  return [
    files.raw.post(
      '',
      {
        summary: 'Upload a file',
        description:
          'With `session_id` the file appears in the sandbox of that session, without a restart. A file that is too large is refused with 413.',
        form: FileForm,
        counted: 'uploads',
        answer,
      },
      (call, raw) => uploadFile(deps, call, raw),
    ),
    files.get(
      '',
      { summary: 'List files', query: FileListQuery, answer: ListOf(answer) },
      async ({ db, tenant, query }) => {
        const store = fileStore(db.read)
        if (query.ids) return named(store, tenant, query)
        const scope = query.scope_id === undefined ? 'files' : `files/${query.scope_id}`
        const page = await beside({ db, tenant }, readPaging(scope, query), query)
        const rows = await store.list(tenant, page, query.scope_id)
        return buildPage(scope, page, rows, showFile)
      },
    ),
    files.raw.get(
      '/:id',
      {
        callers: withClaim,
        claim: 'file',
        summary: 'Download a file',
        description:
          'With `anthropic-version`, or where the request accepts JSON alone, its metadata instead.',
        ...downloadAnswers,
        further: [
          {
            status: 200,
            answer,
            description:
              'Or the metadata, with `anthropic-version`, or where JSON alone is accepted.',
          },
          ...downloadAnswers.further,
        ],
      },
      async ({ db, tenant, params: { id }, dialect, accept }, raw) => {
        if (dialect === 'client' || accept.includes('application/json'))
          return showFile(await rows(db.read, 'files').get(tenant, id))
        return downloadFile({ blobs, clock }, { db, tenant, id }, raw)
      },
    ),
    files.raw.get(
      '/:id/content',
      {
        callers: withClaim,
        claim: 'file',
        summary: 'Download the content of a file',
        description: 'Always the bytes, whatever the dialect.',
        ...downloadAnswers,
      },
      ({ db, tenant, params: { id } }, raw) =>
        downloadFile({ blobs, clock }, { db, tenant, id }, raw),
    ),
    files.remove(
      '/:id',
      {
        summary: 'Delete a file',
        description:
          'Sessions that have a copy keep it. A copy of a session is removed from the resources of the session instead.',
        type: 'file_deleted',
      },
      async ({ db, tenant, params: { id } }) => {
        const { blob_key } = await db.write((tx) => deleteFile(tx, tenant, id, clock.now()))
        await discardBytes({ keeping, log }, tenant, blob_key)
      },
    ),
  ]
}

type FileQuery = { [name: string]: unknown; ids?: string[] | undefined }

/** The named files on one page, in the requested order. Missing files are left out. [files/list/ids] */
async function named(store: ReturnType<typeof fileStore>, tenant: string, query: FileQuery) {
  const ids = [...new Set(query.ids)]
  for (const other of ['limit', 'page', 'cursor', 'after_id', 'before_id', 'scope_id'])
    if (query[other] !== undefined) throw invalid(`${other}: does not go with ids`)
  if (ids.length > mostIds) throw invalid(`ids: at most ${mostIds}`)
  const found = new Map<string, FileRow>()
  for (const row of await store.named(tenant, ids)) found.set(row.id, row)
  const rows = ids.flatMap((id) => found.get(id) ?? [])
  return buildPage('files', { limit: mostIds, order: 'desc' }, { rows, more: false }, showFile)
}
