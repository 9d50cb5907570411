/** Saved views of people, and of the keys of a workspace; rows of the control database. */
import { iso } from '@steward/base/time.ts'
import type { ViewCreate, ViewShown } from '@steward/protocol/saved-views.ts'
import { mostViews } from '@steward/protocol/saved-views.ts'
import { invalid, notFound } from '../../../ground/core/errors.ts'
import { newId } from '../../../ground/core/text/ids.ts'
import type { Queries, Reads } from '../../../ground/database/database.ts'
import { getWorkspaceForShare } from '../../../ground/database/lock.ts'
import { defineStore } from '../../../ground/database/store-of.ts'
import type { Tables } from '../../../ground/database/tables.ts'

/** The owner of the views that all keys of a workspace share. */
export const keysOwner = ''

const ofOwner = (db: Reads, tenant: string, owner: string) =>
  db
    .selectFrom('saved_views')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('owner_id', '=', owner)

const viewReads = (db: Reads) => ({
  async list(tenant: string, owner: string): Promise<ViewShown[]> {
    const rows = await ofOwner(db, tenant, owner).orderBy('name').execute()
    return rows.map(showView)
  },
})

const viewWrites = (db: Queries) => ({
  /** Replaces the view of this name and noun. Throws when the owner has too many. */
  async put(
    tenant: string,
    owner: string,
    { name, noun, filters }: ViewCreate,
    now: number,
  ): Promise<ViewShown> {
    await getWorkspaceForShare(db, tenant)
    const ref = { tenant_id: tenant, owner_id: owner }
    const row = await db
      .insertInto('saved_views')
      .values({ ...ref, id: newId('view'), name, noun, filters, created_at: iso(now) })
      .onConflict((conflict) =>
        conflict
          .columns(['tenant_id', 'owner_id', 'noun', 'name'])
          .doUpdateSet((eb) => ({ filters: eb.ref('excluded.filters') })),
      )
      .returningAll()
      .executeTakeFirstOrThrow()
    const all = await ofOwner(db, tenant, owner)
      .limit(mostViews + 1)
      .execute()
    if (all.length > mostViews)
      throw invalid(`name: there are ${mostViews} views already; delete one first`)
    return showView(row)
  },

  async remove(tenant: string, owner: string, id: string): Promise<void> {
    const { numDeletedRows } = await db
      .deleteFrom('saved_views')
      .where('tenant_id', '=', tenant)
      .where('owner_id', '=', owner)
      .where('id', '=', id)
      .executeTakeFirst()
    if (numDeletedRows === 0n) throw notFound('view', id)
  },
})

export const viewStore = defineStore(viewReads, viewWrites)

const showView = ({ id, name, noun, filters, created_at }: Tables['saved_views']): ViewShown => ({
  id,
  type: 'view',
  name,
  noun,
  filters,
  created_at,
})
