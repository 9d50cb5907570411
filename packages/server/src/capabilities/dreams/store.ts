import type { Dream, DreamStatus, DreamUsage } from '@steward/protocol/dreams.ts'
import { iso } from '@steward/base/time.ts'
import type { Listing, Paging } from '../../ground/core/text/page.ts'
import type { WorkInSlots } from '../../ground/core/fairness/work-slots.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import type { ListFilter, RowOf } from '../../ground/database/rows.ts'
import { rows } from '../../ground/database/rows.ts'
import { defineStore } from '../../ground/database/store-of.ts'

export type DreamRow = RowOf<'dreams'>
export type OpenDream = Pick<DreamRow, 'tenant_id' | 'id'>

const noUsage: DreamUsage = {
  input_tokens: 0,
  output_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
}

/** `usage`: the usage of the session, for a row that has none yet. */
export const showDream = (row: DreamRow, usage: DreamUsage | undefined): Dream => ({
  id: row.id,
  type: 'dream',
  status: row.status,
  inputs: [
    { type: 'memory_store', memory_store_id: row.memory_store_id },
    { type: 'sessions', session_ids: row.session_ids },
  ],
  model: row.model,
  instructions: row.instructions,
  output_behavior:
    row.output_behavior === 'create_new'
      ? { type: 'create_new' }
      : { type: 'update_existing', memory_store_id: row.memory_store_id },
  outputs:
    row.output_store_id === null
      ? []
      : [{ type: 'memory_store', memory_store_id: row.output_store_id }],
  session_id: row.session_id,
  error: row.error,
  usage: row.usage ?? usage ?? noUsage,
  archived_at: row.archived_at,
  created_at: row.created_at,
  ended_at: row.ended_at,
})

type DreamFilter = ListFilter & { statuses?: readonly DreamStatus[] | undefined }

function dreamReads(db: Reads) {
  return {
    list: (
      tenant: string,
      paging: Paging,
      { statuses, ...filter }: DreamFilter,
    ): Promise<Listing<DreamRow>> =>
      rows(db, 'dreams').list(tenant, paging, {
        ...filter,
        where: (query) => (statuses?.length ? query.where('status', 'in', statuses) : query),
      }),

    /** The dream that writes to the store. */
    holder: (tenant: string, store: string): Promise<DreamRow | undefined> =>
      rows(db, 'dreams').find(tenant, (query) => query.where('held_store_id', '=', store)),

    /** Across tenants: dreams that have not stopped, oldest first. */
    open({ ids, tenants }: WorkInSlots, limit: number): Promise<OpenDream[]> {
      let open = db.selectFrom('dreams').select(['tenant_id', 'id']).where('stopped', '=', 0)
      if (ids.length > 0) open = open.where('id', 'not in', ids)
      if (tenants.length > 0) open = open.where('tenant_id', 'not in', tenants)
      return open.orderBy('created_at').limit(limit).execute()
    },

    /** Across tenants: the ids of those dreams that are canceled and have not stopped. */
    async canceled(ids: readonly string[]): Promise<string[]> {
      const found = await db
        .selectFrom('dreams')
        .select('id')
        .where('stopped', '=', 0)
        .where('id', 'in', ids)
        .where('status', '=', 'canceled')
        .execute()
      return found.map(({ id }) => id)
    },
  }
}

function dreamWrites(db: Queries) {
  return {
    update: (kept: DreamRow, columns: Partial<DreamRow>, now: number) =>
      rows(db, 'dreams').update(kept, { ...columns, updated_at: iso(now) }),
  }
}

export const dreamStore = defineStore(dreamReads, dreamWrites)
