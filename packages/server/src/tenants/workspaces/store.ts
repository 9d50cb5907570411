import { sql } from 'kysely'
import { iso } from '@steward/base/time.ts'
import { auditChange, auditWorkspace } from '../../ground/core/security/audited-call.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { forUpdate } from '../../ground/database/lock.ts'
import { defineStore } from '../../ground/database/store-of.ts'
import type { Tables } from '../../ground/database/tables.ts'

export type WorkspaceRow = Tables['workspaces']
export type WorkspaceSummary = Pick<WorkspaceRow, 'id' | 'name' | 'archived_at' | 'created_at'> & {
  members: number | null
  /** Number of keys that are not revoked. */
  keys: number | null
}

function workspaceReads(db: Reads) {
  return {
    /** The workspaces among `ids` that are not deleted, oldest first. */
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

    /** Ids of workspaces with this id or name that are not deleted. A matching id wins over names. */
    async named(idOrName: string): Promise<string[]> {
      const rows = await db
        .selectFrom('workspaces')
        .select('id')
        .where((eb) => eb.or([eb('id', '=', idOrName), eb('name', '=', idOrName)]))
        .where('deleted_at', 'is', null)
        .orderBy('id')
        .execute()
      const ids = rows.map(({ id }) => id)
      return ids.includes(idOrName) ? [idOrName] : ids
    },
    /** All workspaces that are not deleted, oldest first. */
    summaries: (): Promise<WorkspaceSummary[]> =>
      db
        .selectFrom('workspaces')
        .select(['id', 'name', 'archived_at', 'created_at'])
        .select((eb) => [
          eb
            .selectFrom('members')
            .select(sql<number>`cast(count(*) as integer)`.as('n'))
            .whereRef('members.tenant_id', '=', 'workspaces.id')
            .as('members'),
          eb
            .selectFrom('api_keys')
            .select(sql<number>`cast(count(*) as integer)`.as('n'))
            .whereRef('api_keys.tenant_id', '=', 'workspaces.id')
            .where('revoked_at', 'is', null)
            .as('keys'),
        ])
        .where('deleted_at', 'is', null)
        .orderBy('created_at')
        .orderBy('id')
        .execute(),
    /** True when more than one workspace row exists. */
    async areSeveral(): Promise<boolean> {
      const rows = await db.selectFrom('workspaces').select('id').limit(2).execute()
      return rows.length > 1
    },
    /** The oldest workspace that is not deleted. */
    first: () =>
      db
        .selectFrom('workspaces')
        .selectAll()
        .where('deleted_at', 'is', null)
        .orderBy('created_at')
        .orderBy('id')
        .limit(1)
        .executeTakeFirst(),
  }
}

function workspaceWrites(db: Queries) {
  return {
    /** Locks the workspace until the transaction ends; undefined when it is deleted. */
    findForUpdate: (id: string): Promise<WorkspaceRow | undefined> =>
      forUpdate(
        db,
        db
          .selectFrom('workspaces')
          .selectAll()
          .where('id', '=', id)
          .where('deleted_at', 'is', null),
      ).executeTakeFirst(),

    async markDeleted(id: string, now: number): Promise<void> {
      await db
        .updateTable('workspaces')
        .set({ deleted_at: iso(now) })
        .where('id', '=', id)
        .execute()
    },

    async rename(id: string, name: string): Promise<void> {
      const kept = await db
        .selectFrom('workspaces')
        .select('name')
        .where('id', '=', id)
        .executeTakeFirst()
      await db.updateTable('workspaces').set({ name }).where('id', '=', id).execute()
      auditChange({ type: 'workspace', id, before: { name: kept?.name }, after: { name } })
    },

    /** False when it is archived already. */
    async archive(id: string, now: number): Promise<boolean> {
      const { numUpdatedRows } = await db
        .updateTable('workspaces')
        .set({ archived_at: iso(now) })
        .where('id', '=', id)
        .where('archived_at', 'is', null)
        .executeTakeFirst()
      auditChange({ type: 'workspace', id, after: { archived_at: iso(now) } })
      return numUpdatedRows > 0n
    },

    /** False when it is not archived. */
    async unarchive(id: string): Promise<boolean> {
      const { numUpdatedRows } = await db
        .updateTable('workspaces')
        .set({ archived_at: null })
        .where('id', '=', id)
        .where('archived_at', 'is not', null)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    async create(id: string, name: string, now: number): Promise<void> {
      await db
        .insertInto('workspaces')
        .values({ id, name, archived_at: null, deleted_at: null, created_at: iso(now) })
        .execute()
      auditChange({ type: 'workspace', id, after: { name } })
      auditWorkspace(id)
    },
  }
}

/** Workspaces, which are the tenants; rows of the control database. */
export const workspaceStore = defineStore(workspaceReads, workspaceWrites)
