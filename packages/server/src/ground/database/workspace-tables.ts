import type { Sealed } from '../core/seal.ts'

/** Workspaces, their keys and their removals. All tables are in the control database. */
export type WorkspaceTables = {
  workspaces: {
    id: string
    name: string
    archived_at: string | null
    /** Set first in a deletion. A job removes all other rows, and this row last. */
    deleted_at: string | null
    created_at: string
  }
  /** The secret that seals the secrets of each workspace. Without this row nobody can open them. */
  workspace_keys: {
    tenant_id: string
    sealed: Sealed
    created_at: string
  }
  /** Deleted workspaces, each until a day after its last row was removed. */
  workspace_removals: {
    tenant_id: string
    asked_at: string
    /** When the removal runs next. */
    next_ms: number
    /** Number of removals that have found nothing left. */
    passes: number
    /** 1 once nothing of the workspace runs. Its own database may be deleted by then. */
    is_settled: number
    /** The process that removes the workspace now. */
    owner: string | null
    expires_at: number
  }
}
