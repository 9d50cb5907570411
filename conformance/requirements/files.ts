// Written by scripts/requirements.ts from docs/interface.md.
import type { Requirement } from '../specification.ts'

// oxfmt-ignore
export const files = {
  'files/upload': { section: '11.1 Files', says: 'POST `/v1/files` – multipart: `file`, and optionally `session_id` and `expires_in_seconds`; stores the file' },
  'files/list': { section: '11.1 Files', says: 'GET `/v1/files` – lists; `scope_id`, `ids[]`' },
  'files/get': { section: '11.1 Files', says: 'GET `/v1/files/:id` – the bytes, or the metadata in the client dialect' },
  'files/content': { section: '11.1 Files', says: 'GET `/v1/files/:id/content` – the bytes' },
  'files/delete': { section: '11.1 Files', says: 'DELETE `/v1/files/:id` – deletes, and answers `{id, type: \'file_deleted\'}`' },
  'files/upload/mounted': { section: '11.1 Files', says: 'With `session_id` the file appears in that session\'s sandbox at `/home/user/files/<file_id>/<filename>`, without a restart.' },
  'files/metadata': { section: '11.1 Files', says: 'Metadata holds `id`, `type` (`file`), `filename`, `mime_type`, `size_bytes`, `created_at`, `expires_at`, `downloadable` and `scope` (`{type: \'session\', id}` or null).' },
  'files/upload/form': { section: '11.1 Files', says: 'An upload is one file, and no field but those named; the rest is refused with 400, and the message names it.' },
  'files/upload/filename': { section: '11.1 Files', says: 'Of a filename with folders the last component is kept; it has 1 to 255 bytes and no control characters.' },
  'files/upload/too-large': { section: '11.1 Files', says: 'A file above the limit of the server, 500 MB where nothing else is set, is refused with 413, and one of exactly that size is taken.' },
  'files/upload/session': { section: '11.1 Files', says: 'A `session_id` that is foreign or absent is 404, that of an archived session 400; nothing of the upload is kept.' },
  'files/upload/quota': { section: '11.1 Files', says: 'When the files of a workspace would take more than its quota, uploads are refused with 400 and `storage_quota_exceeded`; concurrent uploads may pass it by what each of them brings.' },
  'files/upload/atomic': { section: '11.1 Files', says: 'A file that can be named has all its bytes, and bytes without a file do not stay, whenever the server dies.' },
  'files/expiry/range': { section: '11.1 Files', says: '`expires_in_seconds` lies between 3600 and 7776000.' },
  'files/expiry': { section: '11.1 Files', says: 'An expired file\'s bytes are gone: 404 with `file_expired`; its metadata can be read for 30 more days, and then it is gone.' },
  'files/downloadable': { section: '11.1 Files', says: 'A file whose `downloadable` is false gives no bytes: 400 with `file_not_downloadable`. Uploads are downloadable unless the server is set otherwise.' },
  'files/content/headers': { section: '11.1 Files', says: 'Bytes are answered with their type, as an attachment under the file\'s name, and a browser is told not to guess or run them.' },
  'files/content/ranges': { section: '11.1 Files', says: '`Range` with one range is answered with 206, one that lies outside with 416; `If-Range` takes the `ETag`.' },
  'files/list/ids': { section: '11.1 Files', says: '`ids[]` names at most 100 files: those that exist come on one page, in that order; it excludes the other parameters.' },
  'files/list/scope': { section: '11.1 Files', says: '`scope_id` leaves the files of one session.' },
  'files/list/beside': { section: '11.1 Files', says: 'Lists of files also take `after_id` and `before_id`.' },
  'files/of-session': { section: '11.1 Files', says: 'A session\'s files go when it is deleted, its own copies and those uploaded for it.' },
  'outputs/list/envelope': { section: '11.2 Outputs', says: 'The list answers `{data, has_more: false}`, and `has_more` is never true.', deferred: 'C' },
  'outputs/beta-header': { section: '11.2 Outputs', says: 'Both endpoints need the beta value `managed-agents-2026-04-01`.', deferred: 'C' },
  'outputs/store': { section: '11.2 Outputs', says: 'They exist where an output store is configured, and say so where none is.', deferred: 'C' },
  'outputs/filename': { section: '11.2 Outputs', says: '`:filename` is one path segment; nested names and `..` are refused.', deferred: 'C' },
  'outputs/session-first': { section: '11.2 Outputs', says: 'The session is looked up in the caller\'s workspace before anything else.', deferred: 'C' },
} satisfies Record<string, Requirement>
