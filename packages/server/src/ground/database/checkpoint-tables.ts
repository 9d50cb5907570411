/** Tables of checkpoints of working folders. */
export type CheckpointTables = {
  checkpoints: {
    tenant_id: string
    session_id: string
    /** Of all workspaces of a host, or of a file system that hosts share: where this one was used last. */
    folder: string
    /** The whole, and what changed since; null together where there is none. */
    base_key: string | null
    base_size: number | null
    base_sha256: string | null
    delta_key: string | null
    delta_size: number | null
    delta_sha256: string | null
    taken_at: string | null
  }
  /** The checkpoints of a session by the newest event before them: the one in `checkpoints` too. */
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
