import { iso } from '@steward/base/time.ts'
import { releasedLease } from '../../ground/database/lease.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { defineStore } from '../../ground/database/store-of.ts'
import type { Tables } from '../../ground/database/tables.ts'

export type RemovalRow = Tables['workspace_removals']

const mostRead = 1_000

function removalReads(db: Reads) {
  return {
    /** Workspaces of which something may be left come first. */
    all: (): Promise<RemovalRow[]> =>
      db
        .selectFrom('workspace_removals')
        .selectAll()
        .orderBy('passes')
        .orderBy('asked_at')
        .orderBy('tenant_id')
        .limit(mostRead)
        .execute(),
  }
}

function removalWrites(db: Queries) {
  return {
    async ask(tenant: string, now: number): Promise<void> {
      await db
        .insertInto('workspace_removals')
        .values({
          tenant_id: tenant,
          asked_at: iso(now),
          next_ms: now,
          passes: 0,
          is_settled: 0,
          ...releasedLease,
        })
        .execute()
    },

    /** Records that nothing of the workspace runs. */
    async settle(tenant: string): Promise<void> {
      await db
        .updateTable('workspace_removals')
        .set({ is_settled: 1 })
        .where('tenant_id', '=', tenant)
        .execute()
    },

    /** Records a complete pass; the next one is at `nextMs`, and ends running turns again when `mayRun`. */
    async passed(
      { tenant_id, passes }: RemovalRow,
      { nextMs, mayRun }: { nextMs: number; mayRun: boolean },
    ): Promise<void> {
      await db
        .updateTable('workspace_removals')
        .set({ passes: passes + 1, next_ms: nextMs, is_settled: mayRun ? 0 : 1 })
        .where('tenant_id', '=', tenant_id)
        .execute()
    },

    async forget(tenant: string): Promise<void> {
      await db.deleteFrom('workspace_removals').where('tenant_id', '=', tenant).execute()
    },

    /** Removes the workspace from sign-ins, and deletes its row. */
    async forgetWorkspace(tenant: string): Promise<void> {
      await db
        .updateTable('sign_ins')
        .set({ workspace_id: null })
        .where('workspace_id', '=', tenant)
        .execute()
      await db.deleteFrom('workspaces').where('id', '=', tenant).execute()
    },
  }
}

/** Removals of deleted workspaces; rows of the control database. */
export const removalStore = defineStore(removalReads, removalWrites)
