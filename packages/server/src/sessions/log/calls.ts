/** The states of tool calls: a projection of the log, updated in the transaction that appends. */
import type { NewEvent } from '@steward/protocol/events.ts'
import type { Compilable, JoinBuilder, OperationNodeSource, RawBuilder } from 'kysely'
import { sql } from 'kysely'
import { counterTable } from '../../ground/database/counted-insertion.ts'
import type { Connection, Queries, Reads } from '../../ground/database/database.ts'
import type { SlotFor } from '../../ground/database/statement.ts'
import { statementByForm, selectStatement } from '../../ground/database/statement.ts'
import type { CallState } from '../../ground/database/tables/log.ts'
import type { Tables } from '../../ground/database/tables.ts'
import type { LogEntry, PromotedMessage } from './log.ts'
import type { SessionRef, ThreadRef } from '../../ground/core/refs.ts'
import { sessionColumns } from './thread-columns.ts'

export type PendingCall = {
  event_id: string
  /** Type of the event that made the call. It decides the type of the result event. */
  type: string
  seq: number
  state: CallState
  deny_message: string | null
  /** The child thread that made the call. */
  thread_id?: string | null
}

const runsOnWorker = (event: NewEvent): boolean =>
  event.type === 'agent.tool_use' && event.executed_by === 'worker'

export function newCallState(event: NewEvent): CallState | undefined {
  if (event.type === 'agent.custom_tool_use') return 'waiting'
  if (event.type === 'agent.advisor_tool_use') return 'started'
  if (event.type !== 'agent.tool_use' && event.type !== 'agent.mcp_tool_use') return undefined
  if (event.evaluated_permission === 'ask') return 'asked'
  return runsOnWorker(event) ? 'waiting' : 'started'
}

/**
 * True for a call that waits for a person: for the result of a custom tool, or for a confirmation. The other calls run in
 * the service, or wait for a worker. `isConfirmed`: the log has a confirmation of the call.
 */
export const waitsForPerson = (call: NewEvent, isConfirmed: boolean): boolean =>
  call.type === 'agent.custom_tool_use' || (newCallState(call) === 'asked' && !isConfirmed)

/** `waitsForPerson` of a call without a result, by its row alone. */
export const isOpenForPerson = ({ type, state }: PendingCall): boolean =>
  type === 'agent.custom_tool_use' || state === 'asked'

type CallSettlement = { id: string; state: CallState; deny_message?: string }

function settlementOf(event: NewEvent): CallSettlement | undefined {
  switch (event.type) {
    case 'agent.tool_result':
    case 'agent.advisor_tool_result':
    case 'user.tool_result':
      return { id: event.tool_use_id, state: 'done' }
    case 'agent.mcp_tool_result':
      return { id: event.mcp_tool_use_id, state: 'done' }
    case 'user.custom_tool_result':
      return { id: event.custom_tool_use_id, state: 'done' }
    case 'user.tool_confirmation':
      return event.result === 'allow'
        ? { id: event.tool_use_id, state: 'allowed' }
        : { id: event.tool_use_id, state: 'denied', deny_message: event.deny_message ?? '' }
    default:
      return undefined
  }
}

/** Adds the calls that these events start in this process, and removes the calls that got a result. */
export function followCalls(running: Set<string>, events: readonly NewEvent[]): void {
  for (const event of events) {
    if (newCallState(event) === 'started') running.add(event.id)
    const change = settlementOf(event)
    if (change?.state === 'done') running.delete(change.id)
  }
}

/** How appended events change the calls of their session. */
export type CallChanges = {
  /** `behind`: number of appended events after the event that made the call. */
  opened: readonly {
    event_id: string
    behind: number
    state: CallState
    worker: 0 | 1
    thread_id?: string
  }[]
  settled: readonly CallSettlement[]
}

/** `entries`: all entries of the append, because the numbers of the calls are counted from its end. */
export function callChanges(entries: readonly (LogEntry | PromotedMessage)[]): CallChanges {
  const opening = entries.flatMap((entry, index) => {
    const state = 'event' in entry && newCallState(entry.event)
    if (!state) return []
    const { event, thread } = entry
    const call = { event_id: event.id, behind: entries.length - 1 - index, state } as const
    const worker = runsOnWorker(event) ? 1 : 0
    return { ...call, worker, ...(thread !== undefined && { thread_id: thread }) } as const
  })
  return {
    opened: opening,
    settled: entries.flatMap((entry) =>
      'event' in entry ? (settlementOf(entry.event) ?? []) : [],
    ),
  }
}

/** An allowed call of a worker keeps waiting for its result, because no process of the service runs it. */
const settledState = (state: RawBuilder<CallState> | CallState) =>
  sql<CallState>`case when worker = 1 and ${state} = 'allowed' then 'waiting' else ${state} end`

/** Projects the changes in a transaction that has appended the events up to `last`. */
export async function projectCalls(
  tx: Queries,
  { tenant, session: sessionId }: SessionRef,
  { opened, settled }: CallChanges,
  last: number,
): Promise<void> {
  const rows = opened.map(({ behind, ...call }) => ({
    tenant_id: tenant,
    session_id: sessionId,
    seq: last - behind,
    ...call,
  }))
  for (const row of rows) await tx.insertInto('calls').values(row).execute()
  for (const { id, state, deny_message } of settled)
    await tx
      .updateTable('calls')
      .set({ state: settledState(state), deny_message: deny_message ?? null })
      .where('session_id', '=', sessionId)
      .where('event_id', '=', id)
      .where('state', '<>', 'done')
      .execute()
}

/** What the statement that appends does with calls: opens so many, or settles one. */
export type CallsForm = number | 'settles'

/** The form of the statement that appends and projects the changes. Undefined: one statement cannot do it. */
export function callsForm({ opened, settled }: CallChanges): CallsForm | undefined {
  if (opened.length === 0 && settled.length === 0) return 0
  const isSimple = opened.length <= mostOpened && opened.every(({ thread_id }) => !thread_id)
  if (settled.length === 0 && isSimple) return opened.length
  return settled.length === 1 && opened.length === 0 ? 'settles' : undefined
}

const mostOpened = 4

/** Projects the changes within the statement that appends, on Postgres. `form`: as `callsForm` returns it, and not 0. */
export function callsBeside(
  form: CallsForm,
): (
  tx: Connection,
  slot: SlotFor<SessionRef & { calls: CallChanges }>,
  isFound: RawBuilder<boolean>,
) => Compilable & OperationNodeSource {
  if (form === 'settles') return settleBeside
  return (tx, slot) => {
    const ref = sessionColumns(slot)
    const rows = Array.from({ length: form }, (_, index) => {
      const call = <T>(pick: (call: CallChanges['opened'][number]) => T) =>
        slot(({ calls }) => calls.opened[index] && pick(calls.opened[index]))
      return sql`(${call((each) => each.event_id)}::text, ${call((each) => each.behind)}::bigint,
        ${call((each) => each.state)}::text, ${call((each) => each.worker)}::integer)`
    })
    const from = sql<CallColumns>`(select ${ref.tenant_id}::text as tenant_id, ${ref.session_id}::text as session_id,
        given.event_id, counter.next_seq - given.behind as seq, given.state, given.worker
      from ${counterTable}, (values ${sql.join(rows)}) as given (event_id, behind, state, worker))`
    const names = ['tenant_id', 'session_id', 'event_id', 'seq', 'state', 'worker'] as const
    return tx
      .insertInto('calls')
      .columns(names)
      .expression((eb) => eb.selectFrom(from.as('made')).select(names))
  }
}

type CallColumns = Pick<
  Tables['calls'],
  'tenant_id' | 'session_id' | 'event_id' | 'seq' | 'state' | 'worker'
>

function settleBeside(
  tx: Connection,
  slot: SlotFor<SessionRef & { calls: CallChanges }>,
  isFound: RawBuilder<boolean>,
) {
  const state = slot(({ calls }) => calls.settled[0]?.state)
  return tx
    .updateTable('calls')
    .set({
      state: settledState(sql`${state}::text`),
      deny_message: slot(({ calls }) => calls.settled[0]?.deny_message ?? null),
    })
    .where(
      'session_id',
      '=',
      slot(({ session: sessionId }) => sessionId),
    )
    .where(
      'event_id',
      '=',
      slot(({ calls }) => calls.settled[0]?.id ?? ''),
    )
    .where('state', '<>', 'done')
    .where(isFound)
}

const columns = [
  'event_id',
  'events.type',
  'calls.seq',
  'state',
  'deny_message',
  'calls.thread_id',
] as const
const madeBy = (join: JoinBuilder<Tables, 'calls' | 'events'>) =>
  join.onRef('events.session_id', '=', 'calls.session_id').onRef('events.seq', '=', 'calls.seq')

const openStatement = statementByForm((whose: 'all' | 'primary' | 'child') =>
  selectStatement((db, slot: SlotFor<ThreadRef>) => {
    const { tenant_id, session_id } = sessionColumns(slot)
    const open = db
      .selectFrom('calls')
      .innerJoin('events', madeBy)
      .select(columns)
      .where('calls.tenant_id', '=', tenant_id)
      .where('calls.session_id', '=', session_id)
      // A literal: a cached plan of Postgres uses the partial index of open calls only when the condition holds the
      // literal.
      .where('state', '<>', sql.lit('done'))
      .orderBy('calls.seq')
    if (whose === 'all') return open
    return whose === 'primary'
      ? open.where('calls.thread_id', 'is', null)
      : open.where(
          'calls.thread_id',
          '=',
          slot(({ thread }) => thread ?? ''),
        )
  }),
)

/** Calls of a session without a result, in the order they were made. */
export const openCalls = (db: Reads, tenant: string, sessionId: string): Promise<PendingCall[]> =>
  openStatement('all')(db, { tenant, session: sessionId })

/** Calls of one thread without a result, in the order they were made. */
export const listOpenCalls = (db: Reads, ref: ThreadRef): Promise<PendingCall[]> =>
  openStatement(ref.thread === undefined ? 'primary' : 'child')(db, ref)

export const findCall = (
  db: Reads,
  tenant: string,
  sessionId: string,
  eventId: string,
): Promise<PendingCall | undefined> =>
  db
    .selectFrom('calls')
    .innerJoin('events', madeBy)
    .select(columns)
    .where('calls.tenant_id', '=', tenant)
    .where('calls.session_id', '=', sessionId)
    .where('event_id', '=', eventId)
    .executeTakeFirst()

const results = [
  'user.tool_result',
  'user.custom_tool_result',
  'agent.tool_result',
  'agent.advisor_tool_result',
  'agent.mcp_tool_result',
] as const

/** The first event that settled the call: its result, or with `confirmed` an earlier confirmation. */
export const readSettlement = (
  db: Reads,
  tenant: string,
  sessionId: string,
  { call, confirmed }: { call: PendingCall; confirmed: boolean },
) =>
  db
    .selectFrom('events')
    .select(['seq', 'id', 'type', 'created_at', 'processed_at', 'data'])
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', sessionId)
    .where('seq', '>', call.seq)
    .where('type', 'in', confirmed ? [...results, 'user.tool_confirmation'] : results)
    // Matches only the field: in the text of an event, quotes are escaped.
    .where('data', 'like', `%tool_use_id":"${call.event_id}"%`)
    .orderBy('seq')
    .limit(1)
    .executeTakeFirstOrThrow()

/** Records allowed calls as started. Called before they run. */
export async function startCalls(
  tx: Queries,
  sessionId: string,
  eventIds: string[],
): Promise<void> {
  if (eventIds.length === 0) return
  await tx
    .updateTable('calls')
    .set({ state: 'started' })
    .where('session_id', '=', sessionId)
    .where('event_id', 'in', eventIds)
    .execute()
}

/** Removes at most `limit` calls of a log that nobody reads any more. Returns true when none are left. */
export async function removeCalls(
  tx: Queries,
  tenant: string,
  sessionId: string,
  limit: number,
): Promise<boolean> {
  const some = await tx
    .selectFrom('calls')
    .select('event_id')
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', sessionId)
    .limit(limit)
    .execute()
  const ids = some.map(({ event_id }) => event_id)
  if (ids.length > 0)
    await tx
      .deleteFrom('calls')
      .where('tenant_id', '=', tenant)
      .where('session_id', '=', sessionId)
      .where('event_id', 'in', ids)
      .execute()
  return ids.length < limit
}
