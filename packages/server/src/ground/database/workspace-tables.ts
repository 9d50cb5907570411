import type { Sealed } from '../core/seal.ts'

/** Workspaces and what is left of them; in the control database. */
export type WorkspaceTables = {
  workspaces: {
    id: string
    name: string
    archived_at: string | null
    /** Set first: everything of the workspace is still to be removed, this row last. */
    deleted_at: string | null
    created_at: string
  }
  /** The secret that seals the secrets of each workspace. Without its row they open nowhere. */
  workspace_keys: {
    tenant_id: string
    sealed: Sealed
    created_at: string
  }
  /** Deleted workspaces, each until a day after nothing of it was left. */
  workspace_removals: {
    tenant_id: string
    asked_at: string
    /** When everything of the workspace is removed again. */
    next_ms: number
    /** How often nothing was left of it. */
    passes: number
    /** 1 once nothing of the workspace runs: its own database may be gone already. */
    is_settled: number
    /** The process that removes it now. */
    owner: string | null
    expires_at: number
  }
}
