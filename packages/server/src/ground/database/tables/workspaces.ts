import { nullable, number, sealed, table, text } from '../table.ts'

/** Workspaces, their keys and their removals. All tables are in the control database. */
export const workspaceTables = {
  workspaces: table({
    rows: 'control',
    key: ['id'],
    columns: {
      id: text(),
      name: text(),
      archived_at: nullable(text()),
      /** Set first in a deletion. A job removes all other rows, and this row last. */
      deleted_at: nullable(text()),
      created_at: text(),
    },
  }),
  /** The secret that seals the secrets of each workspace. Without this row nobody can open them. */
  workspace_keys: table({
    rows: 'control',
    key: ['tenant_id'],
    columns: {
      tenant_id: text(),
      sealed: sealed(),
      created_at: text(),
    },
  }),
  /** Deleted workspaces, each until a day after its last row was removed. */
  workspace_removals: table({
    rows: 'control',
    key: ['tenant_id'],
    removed: {
      elsewhere: 'its row stays for a day, so that the job also removes what is written late',
    },
    lease: { owner: 'owner', expires: 'expires_at' },
    columns: {
      tenant_id: text(),
      asked_at: text(),
      /** When the removal runs next. */
      next_ms: number(),
      /** Number of removals that have found nothing left. */
      passes: number(),
      /** 1 once nothing of the workspace runs. Its own database may be deleted by then. */
      is_settled: number(),
      /** The process that removes the workspace now. */
      owner: nullable(text()),
      expires_at: number(),
    },
  }),
}
