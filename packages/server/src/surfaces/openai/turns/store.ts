/** Reads parts of a log: events that are items, and events that begin or end turns. */
import type { EventType } from '@steward/protocol/events.ts'
import { sql } from 'kysely'
import type { SlotFor } from '../../../ground/database/statement.ts'
import { statementByForm, selectStatement } from '../../../ground/database/statement.ts'
import type { EventRow } from '../../../sessions/log/log.ts'
import type { SessionRef, ThreadRef } from '../../../ground/core/refs.ts'
import { isAmong, sessionColumns } from '../../../sessions/log/thread-columns.ts'
import { dataSize, fittingRows, shortText, withTexts } from '../../../sessions/log/texts.ts'
import { isCall, itemTypes, outputTypes, phaseTypes, resultTypes } from './item.ts'
import { turnTypesOf } from './turn.ts'
import type { SessionLog } from './turns.ts'

/** A part of a thread's log between two positions; without a thread, a part of the session's own log. */
type LogPart = ThreadRef & { after: number; before: number }

type LogPartKind = 'session' | 'thread'

/** A condition in a statement that is built once. */
const isInPart = (slot: SlotFor<LogPart>, whose: LogPartKind) => {
  const after = slot((part) => part.after)
  const before = slot((part) => part.before)
  const thread = whose === 'thread' ? slot((part) => part.thread ?? '') : null
  return sql<boolean>`seq > ${after} and seq < ${before} and ${isAmong(thread)}`
}

export type ItemsPart = Pick<LogPart, 'after' | 'before'> & { limit: number; order: 'asc' | 'desc' }

/** Selects items with the sizes of their texts. A long text is left out. */
export const itemsStatement = statementByForm((whose: LogPartKind, order: ItemsPart['order']) =>
  selectStatement((db, slot: SlotFor<LogPart & Pick<ItemsPart, 'limit'>>) =>
    db
      .selectFrom('events')
      .select(['seq', 'id', 'type', 'created_at', 'processed_at'])
      .select([dataSize.as('size'), shortText('data', dataSize)])
      .where((eb) => eb.and(sessionColumns(slot)))
      .where(isInPart(slot, whose))
      .where('type', 'in', itemTypes)
      .orderBy('seq', order)
      .limit(slot(({ limit }) => limit)),
  ),
)

/** The events that each use of all threads' events needs. */
const typesFor = {
  stream: [
    ...turnTypesOf(null),
    ...turnTypesOf('any'),
    ...outputTypes,
    ...resultTypes,
    'session.thread_created',
    'session.environment_build',
    'session.updated',
    'session.deleted',
  ],
  trace: [
    ...turnTypesOf(null),
    ...turnTypesOf('any'),
    ...outputTypes.filter(isCall),
    ...resultTypes,
    'span.model_request_start',
  ],
} satisfies Record<string, EventType[]>

type ThreadsPart = SessionRef & { after: number; before: number; limit: number }

/** Selects events with their threads, null for the session itself. A long text is left out. */
const threadsStatement = statementByForm((use: keyof typeof typesFor) =>
  selectStatement((db, slot: SlotFor<ThreadsPart>) =>
    db
      .selectFrom('events')
      .select(['seq', 'id', 'type', 'created_at', 'processed_at', 'thread_id'])
      .select([dataSize.as('size'), shortText('data', dataSize)])
      .where((eb) => eb.and(sessionColumns(slot)))
      .where(
        'seq',
        '>',
        slot(({ after }) => after),
      )
      .where(
        'seq',
        '<',
        slot(({ before }) => before),
      )
      .where('type', 'in', [...new Set(typesFor[use])])
      .orderBy('seq')
      .limit(slot(({ limit }) => limit)),
  ),
)

/** The events of all threads of a session, in order. Without the last event, the texts have less than `bytes`. */
export async function threadRows(
  { read, tenant, session: sessionId }: SessionLog,
  use: keyof typeof typesFor,
  { after, before = Number.MAX_SAFE_INTEGER, limit, bytes }: ThreadsRange,
): Promise<{ rows: EventRow[]; more: boolean }> {
  const part = { tenant, session: sessionId, after, before, limit: limit + 1 }
  const found = await threadsStatement(use)(read, part)
  const rows = await withTexts(read, tenant, sessionId, fittingRows(found, { limit, bytes }))
  return { rows, more: rows.length < found.length }
}

type ThreadsRange = { after: number; before?: number; limit: number; bytes: number }

/** The ends of turns whose text says why the turn stopped. */
const ends = ['session.status_idle', 'session.thread_status_idle'] satisfies EventType[]

/** The events that begin and end turns. */
const boundTypes = {
  session: [
    'session.status_run_started',
    'user.message',
    'user.define_outcome',
    'session.status_running',
    'session.status_idle',
    'session.status_terminated',
  ],
  thread: [
    'agent.thread_message_received',
    'session.thread_status_running',
    'session.thread_status_idle',
    'session.thread_status_terminated',
  ],
} satisfies Record<LogPartKind, EventType[]>

/** A part of the log with more of these events is read in pieces. */
export const mostBounds = 1_000

/** Selects the events that tell the phases of messages. Only warnings have their text. */
export const phasesStatement = statementByForm((whose: LogPartKind) =>
  selectStatement((db, slot: SlotFor<LogPart>) =>
    db
      .selectFrom('events')
      .select(['seq', 'type'])
      .select(sql<string>`case when type = 'session.warning' then data else '' end`.as('data'))
      .where((eb) => eb.and(sessionColumns(slot)))
      .where(isInPart(slot, whose))
      .where('type', 'in', phaseTypes)
      .orderBy('seq')
      .limit(mostBounds),
  ),
)

/** Selects events with their text only where the text says why a turn stopped. */
export const boundsStatement = statementByForm((whose: LogPartKind) =>
  selectStatement((db, slot: SlotFor<LogPart>) =>
    db
      .selectFrom('events')
      .select(['seq', 'id', 'type', 'created_at'])
      .select(sql<string>`case when type in (${sql.join(ends)}) then data else '' end`.as('data'))
      .where((eb) => eb.and(sessionColumns(slot)))
      .where(isInPart(slot, whose))
      .where('type', 'in', boundTypes[whose])
      .orderBy('seq')
      .limit(mostBounds),
  ),
)

/** The number of warnings with this reason in all threads, up to the event at `seq`. */
export async function countWarnings(
  { read, tenant, session }: Pick<SessionLog, 'read' | 'tenant' | 'session'>,
  reason: string,
  seq: number,
): Promise<number> {
  const { count } = await read
    .selectFrom('events')
    .select(sql<number>`count(*)`.as('count'))
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', session)
    .where('type', '=', 'session.warning')
    .where('seq', '<=', seq)
    // Quotes in texts are escaped, so that no message matches as a key.
    .where(sql<boolean>`data like ${`%"reason":${JSON.stringify(reason)}%`}`)
    .executeTakeFirstOrThrow()
  return Number(count)
}
