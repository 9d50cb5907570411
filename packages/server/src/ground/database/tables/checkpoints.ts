import { nullable, number, table, text } from '../table.ts'

/** Tables of checkpoints of working folders. */
export const checkpointTables = {
  checkpoints: table({
    rows: 'tenant',
    key: ['tenant_id', 'session_id'],
    columns: {
      tenant_id: text(),
      session_id: text(),
      /** The id of the folder of all working folders (of a host or a shared file system) that last had this one. */
      folder: text(),
      /** Blobs of the whole folder (base) and of the changes since (delta). The columns of one are null together. */
      base_key: nullable(text()),
      base_size: nullable(number()),
      base_sha256: nullable(text()),
      delta_key: nullable(text()),
      delta_size: nullable(number()),
      delta_sha256: nullable(text()),
      taken_at: nullable(text()),
    },
  }),
  /** All checkpoints of a session by the number of the newest event before them, the one in `checkpoints` too. */
  past_checkpoints: table({
    rows: 'tenant',
    key: ['tenant_id', 'session_id', 'seq'],
    columns: {
      tenant_id: text(),
      session_id: text(),
      seq: number(),
      taken_at: text(),
      base_key: text(),
      base_size: number(),
      base_sha256: text(),
      delta_key: nullable(text()),
      delta_size: nullable(number()),
      delta_sha256: nullable(text()),
    },
  }),
}
