import { iso } from '@steward/base/time.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { storeOf } from '../../ground/database/store-of.ts'
import type { Tables } from '../../ground/database/tables.ts'

export type WorkspaceRow = Tables['workspaces']

function workspaceReads(db: Reads) {
  return {
    /** Those of the ids that are not deleted, the oldest first. */
    async some(ids: readonly string[]): Promise<WorkspaceRow[]> {
      if (ids.length === 0) return []
      return db
        .selectFrom('workspaces')
        .selectAll()
        .where('id', 'in', ids)
        .where('deleted_at', 'is', null)
        .orderBy('created_at')
        .orderBy('id')
        .execute()
    },

    /** The ids of the workspaces with this id or name; an id comes before names. */
    async named(idOrName: string): Promise<string[]> {
      const rows = await db
        .selectFrom('workspaces')
        .select('id')
        .where((eb) => eb.or([eb('id', '=', idOrName), eb('name', '=', idOrName)]))
        .orderBy('id')
        .execute()
      const ids = rows.map(({ id }) => id)
      return ids.includes(idOrName) ? [idOrName] : ids
    },
    /** Whether there is more than one. */
    async areSeveral(): Promise<boolean> {
      const rows = await db.selectFrom('workspaces').select('id').limit(2).execute()
      return rows.length > 1
    },
    /** The oldest: the one that the configured key owns. */
    first: () =>
      db
        .selectFrom('workspaces')
        .selectAll()
        .orderBy('created_at')
        .orderBy('id')
        .limit(1)
        .executeTakeFirst(),
  }
}

function workspaceWrites(db: Queries) {
  return {
    async rename(id: string, name: string): Promise<void> {
      await db.updateTable('workspaces').set({ name }).where('id', '=', id).execute()
    },

    /** False where it is archived already. */
    async archive(id: string, now: number): Promise<boolean> {
      const { numUpdatedRows } = await db
        .updateTable('workspaces')
        .set({ archived_at: iso(now) })
        .where('id', '=', id)
        .where('archived_at', 'is', null)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    async create(id: string, name: string, now: number): Promise<void> {
      await db
        .insertInto('workspaces')
        .values({ id, name, archived_at: null, deleted_at: null, created_at: iso(now) })
        .execute()
    },
  }
}

/** Workspaces are the tenants; their rows are above all of them, in the control database. */
export const workspaceStore = storeOf(workspaceReads, workspaceWrites)
