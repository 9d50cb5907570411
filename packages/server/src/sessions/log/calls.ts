/** Tool calls and where each stands: a projection of the log, kept in the transaction that appends. */
import type { NewEvent } from '@steward/protocol/events.ts'
import type { JoinBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Queries, Reads } from '../../ground/database/database.ts'
import type { SlotFor } from '../../ground/database/statement.ts'
import { selection } from '../../ground/database/statement.ts'
import type { CallState, Tables } from '../../ground/database/tables.ts'
import type { TenantSession } from './place.ts'
import { ofSession } from './place.ts'

export type PendingCall = {
  event_id: string
  /** Of the event that made the call; its result has the form that goes with it. */
  type: string
  seq: number
  state: CallState
  deny_message: string | null
}

const isWorkers = (event: NewEvent): boolean =>
  event.type === 'agent.tool_use' && event.executed_by === 'worker'

function opened(event: NewEvent): CallState | undefined {
  if (event.type === 'agent.custom_tool_use') return 'waiting'
  if (event.type !== 'agent.tool_use' && event.type !== 'agent.mcp_tool_use') return undefined
  if (event.evaluated_permission === 'ask') return 'asked'
  return isWorkers(event) ? 'waiting' : 'started'
}

function settled(
  event: NewEvent,
): { id: string; state: CallState; deny_message?: string } | undefined {
  switch (event.type) {
    case 'agent.tool_result':
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

/** Adds the calls that begin to run here with these events, and takes out those that have their result. */
export function followCalls(running: Set<string>, events: readonly NewEvent[]): void {
  for (const event of events) {
    if (opened(event) === 'started') running.add(event.id)
    const change = settled(event)
    if (change?.state === 'done') running.delete(change.id)
  }
}

/** Whether the event opens a call or settles one. */
export const concernsCall = (event: NewEvent): boolean =>
  opened(event) !== undefined || settled(event) !== undefined

/** What the appended events do to the session's calls. */
export async function projectCalls(
  tx: Queries,
  tenant: string,
  sessionId: string,
  events: readonly { seq: number; event: NewEvent }[],
): Promise<void> {
  for (const { seq, event } of events) {
    const state = opened(event)
    if (state) {
      await tx
        .insertInto('calls')
        .values({
          tenant_id: tenant,
          session_id: sessionId,
          event_id: event.id,
          seq,
          state,
          worker: isWorkers(event) ? 1 : 0,
        })
        .execute()
      continue
    }
    const change = settled(event)
    if (!change) continue
    await tx
      .updateTable('calls')
      .set((eb) => ({
        state:
          change.state === 'allowed'
            ? // Nobody here runs it: it waits on, for its result.
              eb.case().when('worker', '=', 1).then<CallState>('waiting').else(change.state).end()
            : change.state,
        deny_message: change.deny_message ?? null,
      }))
      .where('session_id', '=', sessionId)
      .where('event_id', '=', change.id)
      .where('state', '<>', 'done')
      .execute()
  }
}

const columns = ['event_id', 'events.type', 'calls.seq', 'state', 'deny_message'] as const
const madeBy = (join: JoinBuilder<Tables, 'calls' | 'events'>) =>
  join.onRef('events.session_id', '=', 'calls.session_id').onRef('events.seq', '=', 'calls.seq')

const openStatement = selection((db, slot: SlotFor<TenantSession>) => {
  const { tenant_id, session_id } = ofSession(slot)
  return (
    db
      .selectFrom('calls')
      .innerJoin('events', madeBy)
      .select(columns)
      .where('calls.tenant_id', '=', tenant_id)
      .where('calls.session_id', '=', session_id)
      // A literal: a plan that Postgres keeps uses the index of open calls only where it sees the word.
      .where('state', '<>', sql.lit('done'))
      .orderBy('calls.seq')
  )
})

/** Calls without a result, in the order they were made. */
export const openCalls = (db: Reads, tenant: string, sessionId: string): Promise<PendingCall[]> =>
  openStatement(db, { tenant, sessionId })

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
  'agent.mcp_tool_result',
] as const

/** The first event that settled the call: the result, or before it, of a call that asks, the confirmation. */
export const settlement = (
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
    // Quotes are escaped within any text of an event: this is the field itself.
    .where('data', 'like', `%tool_use_id":"${call.event_id}"%`)
    .orderBy('seq')
    .limit(1)
    .executeTakeFirstOrThrow()

/** Records that allowed calls begin, before they do. */
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

/** Of a log that nobody reads any more. True: that was all. */
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
