import { long, nullable, number, table, text } from '../table.ts'

export const fileTables = {
  files: table({
    rows: 'tenant',
    key: ['tenant_id', 'id'],
    noun: 'file',
    columns: {
      tenant_id: text(),
      id: text(),
      /** The session that has the file in its sandbox. The file is deleted with the session. */
      session_id: nullable(text()),
      /** `upload`: by a caller. `copy`: a session's own copy of a file. `output`: by a turn. */
      origin: text<'upload' | 'copy' | 'output'>(),
      filename: long(text()),
      mime_type: long(text()),
      size_bytes: number(),
      sha256: text(),
      /** The blob, shared with copies. Null once the blob is deleted. */
      blob_key: nullable(text()),
      downloadable: number(),
      expires_at: nullable(text()),
      created_at: text(),
    },
  }),
  /** The current file of each output of a session. Files of earlier contents stay in `files`. */
  outputs: table({
    rows: 'tenant',
    key: ['tenant_id', 'session_id', 'filename'],
    columns: {
      tenant_id: text(),
      session_id: text(),
      filename: text(),
      /** The row stays when the file is deleted, so that the same content is not published again. */
      file_id: text(),
      sha256: text(),
    },
  }),
  /** Marked blobs. A job deletes each when it is due, unless a row holds it by then. */
  loose_blobs: table({
    rows: 'tenant',
    key: ['tenant_id', 'blob_key'],
    columns: {
      tenant_id: text(),
      blob_key: text(),
      due_ms: number(),
    },
  }),
}
