import { iso } from '@steward/base/time.ts'
import type { Queries, Reads } from '../../../ground/database/database.ts'
import { defineStore } from '../../../ground/database/store-of.ts'
import type { SlotFor } from '../../../ground/database/statement.ts'
import { insertRows, selectStatement } from '../../../ground/database/statement.ts'
import type { Listing, Paging } from '../../../ground/core/text/page.ts'
import { readPage, rowWeight } from '../../../ground/database/listing.ts'
import { readHead, spendingCounters } from '../head.ts'
import type { SessionRef, ThreadRef } from '../../../ground/core/refs.ts'
import { threadColumns } from '../thread-columns.ts'
import { threadIdOf } from './team.ts'
import type { Tables } from '../../../ground/database/tables.ts'

export type ThreadRow = Tables['threads']

const fresh = {
  ...({ status: 'idle', stop_reason: null, due: 0, recoveries: 0, halted: 0 } as const),
  ...({ running_since_ms: null, active_ms: 0, idle_since_ms: null, archived_at: null } as const),
  ...({ input_tokens: 0, output_tokens: 0, cache_read_input_tokens: 0 } as const),
  ...({ cache_creation_input_tokens: 0, list_cost: 0, unpriced: 0, web_searches: 0 } as const),
}

type ThreadRowKey = Pick<ThreadRow, 'tenant_id' | 'session_id' | 'id'>

export const threadRowKey = (ref: ThreadRef): ThreadRowKey => ({
  tenant_id: ref.tenant,
  session_id: ref.session,
  id: threadIdOf(ref),
})

type NewThreadRow = Pick<
  ThreadRow,
  'tenant_id' | 'session_id' | 'id' | 'kind' | 'name' | 'agent' | 'url_servers'
> &
  Partial<ThreadRow>

const spentColumns = [...spendingCounters, 'unpriced'] as const
export type ThreadSpending = Pick<ThreadRow, (typeof spentColumns)[number]>

/** Estimated bytes of a row; only the column `agent` may be long. */
const weight = rowWeight('agent')

type ThreadKey = SessionRef & { id: string }

const findStatement = selectStatement((db, slot: SlotFor<ThreadKey>) =>
  db
    .selectFrom('threads')
    .selectAll()
    .where((eb) => eb.and(threadColumns(slot))),
)

function threadReads(db: Reads) {
  const rowsOf = (tenant: string, session: string) =>
    db
      .selectFrom('threads')
      .selectAll()
      .where('tenant_id', '=', tenant)
      .where('session_id', '=', session)

  return {
    /** Usage of the primary thread: the usage of the session minus that of the other threads. */
    async spentByPrimary(tenant: string, session: string): Promise<ThreadSpending> {
      const [head, others] = await Promise.all([
        readHead(db, tenant, session),
        db
          .selectFrom('threads')
          .select((eb) =>
            spentColumns.map((name) => eb.fn.coalesce(eb.fn.sum<number>(name), eb.lit(0)).as(name)),
          )
          .where('tenant_id', '=', tenant)
          .where('session_id', '=', session)
          .executeTakeFirstOrThrow(),
      ])
      const left = spentColumns.map((name) => [name, head[name] - Number(others[name])] as const)
      return { ...(Object.fromEntries(left) as ThreadSpending), unpriced: head.unpriced }
    },

    list: (tenant: string, session: string, paging: Paging): Promise<Listing<ThreadRow>> =>
      readPage(tenant, rowsOf(tenant, session), paging, weight),

    /** All threads except the primary one. */
    children: (tenant: string, session: string, paging: Paging): Promise<Listing<ThreadRow>> =>
      readPage(tenant, rowsOf(tenant, session).where('kind', '!=', 'primary'), paging, weight),

    /** Threads of a session in the order of their creation; the primary one is the first. */
    all: (tenant: string, session: string): Promise<ThreadRow[]> =>
      rowsOf(tenant, session).orderBy('id').execute(),

    /** Ids of the threads that have not ended, except the primary one. */
    async openChildren(tenant: string, session: string): Promise<string[]> {
      const rows = db
        .selectFrom('threads')
        .select('id')
        .where('tenant_id', '=', tenant)
        .where('session_id', '=', session)
        .where('kind', '!=', 'primary')
        .where('archived_at', 'is', null)
      return (await rows.execute()).map(({ id }) => id)
    },

    async find(tenant: string, session: string, id: string): Promise<ThreadRow | undefined> {
      const [row] = await findStatement(db, { tenant, session, id })
      return row
    },
  }
}

function threadWrites(db: Queries) {
  return {
    async insert(row: NewThreadRow, now: number): Promise<void> {
      const at = iso(now)
      await insertRows(db, 'threads', [{ ...fresh, ...row, created_at: at, updated_at: at }])
    },

    async update(
      { tenant_id, session_id, id }: ThreadRowKey,
      set: Partial<ThreadRow>,
    ): Promise<void> {
      await db
        .updateTable('threads')
        .set(set)
        .where('tenant_id', '=', tenant_id)
        .where('session_id', '=', session_id)
        .where('id', '=', id)
        .execute()
    },

    async remove(tenant_id: string, session_id: string): Promise<void> {
      const isOfSession = { tenant_id, session_id }
      await db
        .deleteFrom('threads')
        .where((eb) => eb.and(isOfSession))
        .execute()
    },
  }
}

/** Threads of sessions that have several. */
export const threadStore = defineStore(threadReads, threadWrites)
