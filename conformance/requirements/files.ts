// Written by scripts/requirements.ts from docs/interface.md.
import type { Requirement } from '../specification.ts'

// oxfmt-ignore
export const files = {
  'files/upload': { section: '11.1 Files', says: 'POST `/v1/files` – multipart: `file`, and optionally `session_id` and `expires_in_seconds`; stores the file', deferred: 'C' },
  'files/list': { section: '11.1 Files', says: 'GET `/v1/files` – lists; `scope_id`, `ids[]`', deferred: 'C' },
  'files/get': { section: '11.1 Files', says: 'GET `/v1/files/:id` – the bytes, or the metadata in the client dialect', deferred: 'C' },
  'files/content': { section: '11.1 Files', says: 'GET `/v1/files/:id/content` – the bytes', deferred: 'C' },
  'files/delete': { section: '11.1 Files', says: 'DELETE `/v1/files/:id` – deletes, and answers `{id, type: \'file_deleted\'}`', deferred: 'C' },
  'files/upload/mounted': { section: '11.1 Files', says: 'With `session_id` the file appears in that session\'s sandbox at `/home/user/files/<file_id>/<filename>`, without a restart.', deferred: 'C' },
  'files/metadata': { section: '11.1 Files', says: 'Metadata holds `id`, `filename`, `mime_type`, `size_bytes`, `created_at`, `expires_at`, `downloadable` and `scope`.', deferred: 'C' },
  'outputs/list/envelope': { section: '11.2 Outputs', says: 'The list answers `{data, has_more: false}`, and `has_more` is never true.', deferred: 'C' },
  'outputs/beta-header': { section: '11.2 Outputs', says: 'Both endpoints need the beta value `managed-agents-2026-04-01`.', deferred: 'C' },
  'outputs/store': { section: '11.2 Outputs', says: 'They exist where an output store is configured, and say so where none is.', deferred: 'C' },
  'outputs/filename': { section: '11.2 Outputs', says: '`:filename` is one path segment; nested names and `..` are refused.', deferred: 'C' },
  'outputs/session-first': { section: '11.2 Outputs', says: 'The session is looked up in the caller\'s workspace before anything else.', deferred: 'C' },
} satisfies Record<string, Requirement>
