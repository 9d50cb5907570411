import { createHash } from 'node:crypto'
import {
  FolderContentQuery,
  FolderListQuery,
  FolderShown,
} from '@steward/protocol/working-folders.ts'
import {
  ChangedTurnShown,
  ChangedTurnsQuery,
  FolderChangesQuery,
  FolderChangesShown,
} from '@steward/protocol/folder-changes.ts'
import { ListOf } from '@steward/protocol/primitives.ts'
import { z } from 'zod'
import { decodeCursor, encodeCursor } from '../../ground/core/text/cursor.ts'
import { FileRangeError, PlatformError } from '../../ground/core/errors.ts'
import { forwardPage } from '../../ground/core/text/page.ts'
import { attachmentHeaders } from '../../ground/http/attachment.ts'
import type { RouteReply } from '../../ground/http/reply.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import { downloadAnswers, parseRange } from '../../resources/files/download.ts'
import { sessionStore } from '../../sessions/rows/sessions.ts'
import type { Archives } from './archives.ts'
import { folderChanges } from './changes.ts'
import type { EntryName } from './folder-entry.ts'
import { pathOf, parsePathSegments } from './folder-entry.ts'
import type { OpenedFile } from './live-folder.ts'
import type { FolderSource, FolderViews } from './session-folders.ts'
import { changedTurns } from './turns.ts'

const changes = section('The working folder', ['workspace'], '/v1/ext/sessions/:id/changes')
const folders = section('The working folder', ['workspace'], '/v1/ext/sessions/:id/folder')

/** Bytes of one answer. */
export const mostContentBytes = 64 * 1024 * 1024

const largest = Number.MAX_SAFE_INTEGER
const TurnPosition = z.tuple([z.int().min(0)])
const Position = z.tuple([z.enum(['folder', 'file']), z.string().regex(/^([0-9a-f]{2})+$/)])

export const folderRoutes = (deps: { folders: FolderViews; archives: Archives }): Route[] => [
  folders.get(
    '',
    {
      summary: 'List a folder of a session',
      description: 'Folders first, by name. Links are neither followed nor left out.',
      query: FolderListQuery,
      isQueryChecked: true,
      answer: FolderShown,
    },
    async ({ db, tenant, params: { id }, query, signal }) => {
      await sessionStore(db.read).row(tenant, id)
      const parts = parsePathSegments(query.path)
      const scope = `folder/${createHash('sha256').update(pathOf(parts)).digest('base64url')}`
      const after = query.page === undefined ? undefined : nameAt(query.page, scope)
      const page = { limit: query.limit, after }
      const whose = { tenant, session: id }
      const { found, listing } = await deps.folders.list(whose, parts, { page, signal })
      const last = listing.entries.at(-1)
      const next_page = listing.more && last ? cursorOf(last.at, scope) : null
      return {
        ...forwardPage(
          listing.entries.map(({ shown }) => shown),
          next_page,
        ),
        path: pathOf(parts),
        ...sourceOf(found),
        is_complete: listing.isComplete,
      }
    },
  ),
  folders.get(
    '/content',
    {
      summary: 'Download a file of the folder of a session',
      description: `As an attachment, ${mostContentBytes / 1024 ** 2} MiB of one answer at most. The headers \`steward-folder-source\` and \`steward-folder-at\` say where it is from.`,
      query: FolderContentQuery,
      isQueryChecked: true,
      ...downloadAnswers,
    },
    async ({ db, tenant, params: { id }, query, header, signal }) => {
      await sessionStore(db.read).row(tenant, id)
      const parts = parsePathSegments(query.path)
      const { found, file } = await deps.folders.open({ tenant, session: id }, parts, signal)
      try {
        return contentReply(found, file, parts.at(-1) ?? '', header('range'))
      } catch (error) {
        await file.close()
        throw error
      }
    },
  ),
  changes.get(
    '',
    {
      summary: 'Show what changed in the folder of a session',
      description:
        'The net difference of two times, by whatever made it: added, changed, removed and renamed files, with unified diffs of texts.',
      query: FolderChangesQuery,
      isQueryChecked: true,
      answer: FolderChangesShown,
    },
    async ({ db, tenant, params: { id }, query, signal }) => {
      const session = await sessionStore(db.read).shownRow(tenant, id)
      const asked = { from: query.from, to: query.to, parts: parsePathSegments(query.path) }
      return folderChanges(deps, { db: db.read, tenant, session, signal }, asked)
    },
  ),
  changes.get(
    '/turns',
    {
      summary: 'List the turns of a session by whether their changes are known',
      description: 'The newest first. Changes are known where checkpoints of both ends are kept.',
      query: ChangedTurnsQuery,
      isQueryChecked: true,
      answer: ListOf(ChangedTurnShown),
    },
    async ({ db, tenant, params: { id }, query: { limit, page } }) => {
      const session = await sessionStore(db.read).shownRow(tenant, id)
      const scope = 'changes/turns'
      const [before] = page === undefined ? [largest] : decodeCursor(page, scope, TurnPosition)
      const { turns, more } = await changedTurns(
        { db: db.read, tenant, session },
        { before, limit },
      )
      const last = turns.at(-1)
      const next_page = more && last ? encodeCursor(scope, [last.to]) : null
      return forwardPage(turns, next_page)
    },
  ),
]

const cursorOf = ({ isFolder, name }: EntryName, scope: string): string =>
  encodeCursor(scope, [isFolder ? 'folder' : 'file', name.toString('hex')])

function nameAt(cursor: string, scope: string): EntryName {
  const [kind, name] = decodeCursor(cursor, scope, Position)
  return { isFolder: kind === 'folder', name: Buffer.from(name, 'hex') }
}

const sourceOf = (found: FolderSource) => ({
  source: found.source,
  at: found.source === 'none' ? null : found.at,
  reason: found.source === 'none' ? found.reason : null,
})

function contentReply(
  found: FolderSource,
  { size, read }: OpenedFile,
  name: string,
  asked: string | undefined,
): RouteReply {
  const range = parseRange(asked, size)
  if (range === 'unsatisfiable') throw new FileRangeError(size)
  if (!range && size > mostContentBytes)
    throw new PlatformError(
      'too_large',
      `the file has ${size} bytes, and one answer has at most ${mostContentBytes}: send a range, such as \`range: bytes=0-${mostContentBytes - 1}\``,
    )
  const start = range?.start ?? 0
  const end = Math.min(range?.end ?? size, start + mostContentBytes)
  const { source, at } = sourceOf(found)
  const headers: [string, string][] = [
    ...attachmentHeaders(name, 'application/octet-stream'),
    ['accept-ranges', 'bytes'],
    ['content-length', String(end - start)],
    ['steward-folder-source', source],
    ['steward-folder-at', at ?? ''],
  ]
  if (range) headers.push(['content-range', `bytes ${start}-${end - 1}/${size}`])
  return { reply: 'raw', status: range ? 206 : 200, headers, body: read(start, end) }
}
