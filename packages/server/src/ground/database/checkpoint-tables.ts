/** Tables of checkpoints of working folders. */
export type CheckpointTables = {
  checkpoints: {
    tenant_id: string
    session_id: string
    /** The id of the folder of all working folders (of a host or a shared file system) that last had this one. */
    folder: string
    /** Blobs of the whole folder (base) and of the changes since (delta). The columns of one are null together. */
    base_key: string | null
    base_size: number | null
    base_sha256: string | null
    delta_key: string | null
    delta_size: number | null
    delta_sha256: string | null
    taken_at: string | null
  }
  /** All checkpoints of a session by the number of the newest event before them, the one in `checkpoints` too. */
  past_checkpoints: {
    tenant_id: string
    session_id: string
    seq: number
    taken_at: string
    base_key: string
    base_size: number
    base_sha256: string
    delta_key: string | null
    delta_size: number | null
    delta_sha256: string | null
  }
}
