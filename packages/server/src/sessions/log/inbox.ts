/** The inbox: messages that were admitted and are not yet part of a turn. */
import type { EventOf } from '@steward/protocol/events.ts'
import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import { PlatformError } from '../../ground/core/errors.ts'
import { countedInsertion } from '../../ground/database/counted-insertion.ts'
import type { Connection, Queries, Reads } from '../../ground/database/database.ts'
import { iso } from '@steward/base/time.ts'
import type { SlotFor } from '../../ground/database/statement.ts'
import { statementByForm, selectStatement, statement } from '../../ground/database/statement.ts'
import { atBudget, requiresAction } from './head.ts'
import type { PromotedMessage, StoredEvent } from './log.ts'
import { fieldsText } from './fields.ts'
import type { LongText } from './long-texts.ts'
import { ownTexts } from './long-texts.ts'
import type { SessionRef, ThreadRef } from '../../ground/core/refs.ts'
import { isOfThread, sessionColumns } from './thread-columns.ts'
import { parseObject } from '@steward/base/json-object.ts'

/** Event types that wait for a runner. All other events of clients are processed on receipt. */
export type WaitingEvent =
  | EventOf<'user.message'>
  | EventOf<'system.message'>
  | EventOf<'user.interrupt'>
  | EventOf<'agent.thread_message_received'>
  | EventOf<'system.wakeup'>

/**
 * A waiting message without its text, which may have many megabytes. `bytes_before`: bytes of all messages ever
 * admitted before it.
 */
export type InboxItem = { position: number; id: string; type: string; bytes_before: number }

/**
 * A message to admit. `data`: its fields as JSON text. `longBytes`: bytes of a long text, which is stored in pieces.
 */
export type Admission = Pick<StoredEvent, 'id' | 'type' | 'data'> & {
  longBytes?: number
  /** The message joins the turn that runs, where one does, before its next model request. */
  steers?: boolean
}

export const toAdmission = (event: WaitingEvent, text?: LongText): Admission => ({
  id: event.id,
  type: event.type,
  ...(text ? { data: text.data, longBytes: text.bytes } : { data: fieldsText(event) }),
})

/** The beginning of an event's text, before its fields, from its columns. */
const headText = ({ id, type }: Pick<Admission, 'id' | 'type'>): string =>
  `{"id":"${id}","type":"${type}"`
/** The text of a message as the inbox has it. */
export const wholeText = (event: Admission): string =>
  `${headText(event)}${event.data === '{}' ? '}' : `,${event.data.slice(1)}`}`

function fieldsOf(row: { id: string; type: string; event: string }): string {
  if (row.event === '') return ''
  const head = headText(row)
  // Earlier versions wrote the fields in another order.
  if (!row.event.startsWith(head)) return fieldsText(parseObject(row.event))
  const rest = row.event.slice(head.length)
  return rest === '}' ? '{}' : `{${rest.slice(1)}`
}

/** Limits of what waits in one session. All of it is read at once and promoted in one commit. */
const mostWaiting = { events: 10_000, bytes: 64 * 1024 * 1024 }

type InboxGrowth = SessionRef & { count: number; bytes: number; due: 0 | 1 }
type InboxHead = {
  next_position: number
  inbox_bytes: number
  oldest: number | null
  gone: number | null
  due: number
}

/**
 * Positions have no gaps: the position of the oldest message gives the number of waiting messages, and the bytes before
 * it their size. The way `direct` inserts only if the session takes messages, has one thread, room and budget left,
 * and runs on no worker.
 */
const insertInbox = countedInsertion<InboxGrowth, InboxHead, [way: 'direct' | 'held']>(
  'inbox',
  { position: 'next_position', bytes_before: 'inbox_bytes' },
  (way) => ({
    update(tx, slot) {
      const tenant = slot((position) => position.tenant)
      const session = slot(({ session: sessionId }) => sessionId)
      const count = slot((growth) => growth.count)
      const bytes = slot((growth) => growth.bytes)
      const due = slot((growth) => growth.due)
      // Filters by the session alone; the update checks the tenant. With the tenant, Postgres expects one row, and
      // reads and sorts all rows.
      const oldest = (column: 'position' | 'bytes_before') =>
        sql<number | null>`(select ${sql.ref(column)} from inbox where session_id = ${session}
          order by position limit 1)`
      const isDue = way === 'direct' ? sql<boolean>`not (${requiresAction})` : sql`${due} = 1`
      return tx
        .updateTable('session_heads')
        .set((eb) => ({
          next_position: eb('next_position', '+', count),
          inbox_bytes: eb('inbox_bytes', '+', bytes),
          due: sql<number>`case when ${isDue} then 1 else due end`,
        }))
        .where('session_id', '=', session)
        .where('tenant_id', '=', tenant)
        .$if(way === 'direct', (query) =>
          query
            .where('status', 'not in', ['deleted', 'done', 'failed'])
            .where('threads', '=', sql.lit(0))
            .where(sql<boolean>`not (${atBudget})`)
            .where(sql<boolean>`exists (select 1 from sessions where tenant_id = ${tenant}
              and id = ${session} and deleted_at is null and self_hosted = 0)`)
            .where(sql<boolean>`coalesce(next_position + ${count} - ${oldest('position')} + 1, 0)
              <= ${sql.lit(mostWaiting.events)}`)
            .where(sql<boolean>`coalesce(inbox_bytes + ${bytes} - ${oldest('bytes_before')}, 0)
              <= ${sql.lit(mostWaiting.bytes)}`),
        )
        .returning(['next_position', 'inbox_bytes', 'due'])
        .returning([oldest('position').as('oldest'), oldest('bytes_before').as('gone')])
    },
  }),
)

/** The rows of the events. `position` and `bytes_before` are relative to the head after the insertion. */
function rowsOf(
  events: readonly Admission[],
  { tenant, session: sessionId, thread, now }: ThreadRef & { now: number },
) {
  const texts = events.map((event) => (event.longBytes === undefined ? wholeText(event) : ''))
  const sizes = events.map(
    ({ longBytes }, index) => longBytes ?? Buffer.byteLength(texts[index] ?? ''),
  )
  const bytes = sizes.reduce((sum, size) => sum + size, 0)
  const created_at = iso(now)
  // All rows of a statement have the same columns. Most messages wait for the end of a turn.
  const hasSteering = events.some(({ steers }) => steers)
  const rows = events.map((event, index) => ({
    tenant_id: tenant,
    session_id: sessionId,
    position: index - events.length + 1,
    id: event.id,
    type: event.type,
    event: texts[index] ?? '',
    bytes_before: sizes.slice(0, index).reduce((sum, size) => sum + size, -bytes),
    created_at,
    ...(thread !== undefined && { thread_id: thread }),
    ...(hasSteering && { steers: event.steers ? 'yes' : null }),
  }))
  return { rows, bytes }
}

/** Types that need no room: an interrupt empties the inbox, and each thread has at most one wakeup. */
const roomless = ['user.interrupt', 'system.wakeup']

/**
 * Adds the events at the end of the inbox. `due` marks the session as due. Throws rate_limited when the inbox is full.
 */
export async function admitEvents(
  tx: Queries,
  tenant: string,
  sessionId: string,
  events: readonly Admission[],
  { now, due, thread }: { now: number; due: boolean; thread?: string | undefined },
): Promise<void> {
  const { rows, bytes } = rowsOf(events, { tenant, session: sessionId, thread, now })
  const growth = {
    tenant,
    session: sessionId,
    count: events.length,
    bytes,
    due: due ? 1 : 0,
  } as const
  const head = await insertInbox(tx, ['held'], growth, rows)
  if (!head) throw new Error(`session ${sessionId} has no head`)
  if (events.some(({ type }) => !roomless.includes(type)))
    checkRoom(sessionId, {
      events: head.oldest === null ? events.length : head.next_position - head.oldest + 1,
      bytes: head.gone === null ? bytes : head.inbox_bytes - head.gone,
    })
  const long = events.flatMap(({ id, longBytes }) => (longBytes === undefined ? [] : id))
  await ownTexts(tx, { tenant, session: sessionId }, long)
}

/**
 * Adds few messages at the end of the inbox, for `writeStatement`. `due`: a runner has work. Returns undefined,
 * and writes nothing, when the session does not exist, takes no messages, has no room for them, has reached its budget,
 * has several threads, or runs on workers.
 */
export async function admitDirectly(
  tx: Queries,
  { tenant, session: sessionId }: SessionRef,
  messages: readonly Admission[],
  now: number,
): Promise<{ due: boolean } | undefined> {
  const { rows, bytes } = rowsOf(messages, { tenant, session: sessionId, now })
  const growth = { tenant, session: sessionId, count: messages.length, bytes, due: 0 } as const
  const head = await insertInbox(tx, ['direct'], growth, rows)
  return head && { due: head.due === 1 }
}

/** Throws rate_limited when the inbox has no room for this number of further characters. */
export async function checkRoomFor(
  db: Reads,
  tenant: string,
  sessionId: string,
  head: { inbox_bytes: number },
  characters: number,
): Promise<void> {
  const queue = await readWaiting(db, tenant, sessionId)
  checkRoom(sessionId, {
    events: queue.length,
    bytes: bytesWaiting(head, queue) + characters,
  })
}

/** Throws rate_limited when this would exceed the limits of the inbox. */
function checkRoom(sessionId: string, { events, bytes }: typeof mostWaiting): void {
  if (events > mostWaiting.events || bytes > mostWaiting.bytes)
    throw new PlatformError(
      'rate_limited',
      `session ${sessionId} has no room for more messages: ${mostWaiting.events} and ${mostWaiting.bytes} bytes may wait for its turn to end, or for an answer that it asks for`,
    )
}

export type ThreadForm = 'primary' | 'child'
export const threadFormOf = ({ thread }: { thread?: string | undefined }): ThreadForm =>
  thread === undefined ? 'primary' : 'child'
/** The condition that rows belong to the thread that the values name. */
export const isOfThreadForm = (whose: ThreadForm, slot: SlotFor<ThreadRef>) =>
  isOfThread(whose === 'primary' ? undefined : slot(({ thread }) => thread ?? ''))

const waitingStatement = statementByForm((whose: ThreadForm) =>
  selectStatement((db, slot: SlotFor<ThreadRef>) =>
    db
      .selectFrom('inbox')
      .select(['position', 'id', 'type', 'bytes_before'])
      .where((eb) => eb.and(sessionColumns(slot)))
      .where(isOfThreadForm(whose, slot))
      .orderBy('position'),
  ),
)

/** All messages that wait for a thread, in the order of their admission. */
export const readWaiting = (
  db: Reads,
  tenant: string,
  sessionId: string,
  thread?: string,
): Promise<InboxItem[]> =>
  waitingStatement(threadFormOf({ thread }))(db, { tenant, session: sessionId, thread })

/** Bytes of the waiting messages. The caller has locked `head` before it read them. */
export const bytesWaiting = (
  head: { inbox_bytes: number },
  [oldest]: readonly InboxItem[],
): number => (oldest ? head.inbox_bytes - oldest.bytes_before : 0)

const steersStatement = selectStatement((db, slot: SlotFor<SessionRef>) =>
  db
    .selectFrom('inbox')
    .select(['position', 'steers'])
    .where((eb) => eb.and(sessionColumns(slot)))
    .where(isOfThread(undefined))
    .orderBy('position'),
)

/**
 * The position of the last message that may join a running turn of the primary thread. A message joins none while one
 * waits before it that does not, so that messages keep their order.
 */
export async function lastSteering(db: Reads, ref: SessionRef): Promise<number | undefined> {
  const rows = await steersStatement(db, ref)
  const end = rows.findIndex(({ steers }) => steers !== 'yes')
  return rows.slice(0, end < 0 ? rows.length : end).at(-1)?.position
}

const behindStatement = statementByForm((whose: ThreadForm) =>
  selectStatement((db, slot: SlotFor<ThreadRef & { position: number }>) =>
    db
      .selectFrom('inbox')
      .select('position')
      .where((eb) => eb.and(sessionColumns(slot)))
      .where(isOfThreadForm(whose, slot))
      .where(
        'position',
        '>',
        slot(({ position }) => position),
      )
      .limit(1),
  ),
)

/** True when a message waits for a thread after this position. */
export async function waitsBehind(
  db: Reads,
  tenant: string,
  sessionId: string,
  position: number,
  thread?: string,
): Promise<boolean> {
  const ref = { tenant, session: sessionId, thread }
  return (await behindStatement(threadFormOf(ref))(db, { ...ref, position })).length > 0
}

type InboxRange = ThreadRef & { upTo: number }

const upToStatement = statementByForm((whose: ThreadForm) =>
  statement((tx, slot: SlotFor<InboxRange>) =>
    tx
      .selectFrom('inbox')
      .select(['id', 'type', 'created_at', 'event'])
      .where((eb) => eb.and(sessionColumns(slot)))
      .where(isOfThreadForm(whose, slot))
      .where(
        'position',
        '<=',
        slot(({ upTo }) => upTo),
      )
      .orderBy('position'),
  ),
)

/** The statement that removes the messages of a thread up to a position. */
export const removalUpTo = (
  tx: Connection,
  ref: ReturnType<typeof sessionColumns>,
  upTo: RawBuilder<number>,
  thread?: RawBuilder<string>,
) =>
  tx
    .deleteFrom('inbox')
    .where((eb) => eb.and(ref))
    .where(isOfThread(thread))
    .where('position', '<=', upTo)

const removalStatement = statementByForm((whose: ThreadForm) =>
  statement((tx, slot: SlotFor<InboxRange>) =>
    removalUpTo(
      tx,
      sessionColumns(slot),
      slot(({ upTo }) => upTo),
      whose === 'primary' ? undefined : slot(({ thread }) => thread ?? ''),
    ),
  ),
)

/**
 * Removes and returns the messages of a thread up to a position. The caller appends them to the log in the same
 * transaction.
 */
export async function takeWaiting(
  tx: Queries,
  tenant: string,
  sessionId: string,
  upTo: number,
  thread?: string,
): Promise<PromotedMessage[]> {
  const which = { tenant, session: sessionId, upTo, thread }
  // Two statements: SQLite would copy the rows that a deleting statement returns once more.
  const rows = await upToStatement(threadFormOf(which))(tx, which)
  await removalStatement(threadFormOf(which))(tx, which)
  return rows.map(toPromotedMessage)
}

/** A row of the inbox in the form in which it is appended to the log. */
export const toPromotedMessage = (row: {
  id: string
  type: string
  created_at: string
  event: string
}): PromotedMessage => ({
  id: row.id,
  type: row.type,
  created_at: row.created_at,
  data: fieldsOf(row),
})

/** The id of the newest message of people that waits. */
export async function newestWaitingMessage(
  read: Reads,
  { tenant, session }: SessionRef,
): Promise<string | undefined> {
  const row = await read
    .selectFrom('inbox')
    .select('id')
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', session)
    .where('type', '=', 'user.message')
    .orderBy('position', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.id
}
