import { iso } from '@steward/base/time.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { storeOf } from '../../ground/database/store-of.ts'

function workspaceReads(db: Reads) {
  return {
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
