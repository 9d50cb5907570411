/**
 * Messages between threads. A message waits in the inbox until a unit appends it to the log of its receiver.
 * [threads/messages]
 */
import type { EventOf } from '@steward/protocol/events.ts'
import { newId } from '../../../ground/core/text/ids.ts'
import { parseObject } from '@steward/base/json-object.ts'
import type { Queries, Reads } from '../../../ground/database/database.ts'
import type { SlotFor } from '../../../ground/database/statement.ts'
import { statementByForm, selectStatement } from '../../../ground/database/statement.ts'
import type { ThreadForm } from '../inbox.ts'
import {
  toAdmission,
  admitEvents,
  isOfThreadForm,
  toPromotedMessage,
  threadFormOf,
} from '../inbox.ts'
import type { PromotedMessage } from '../log.ts'
import type { ThreadRef, SessionRef } from '../../../ground/core/refs.ts'
import { isOfThread, sessionColumns } from '../thread-columns.ts'
import type { ThreadRow } from './store.ts'
import { makeDue } from './due.ts'

/**
 * Limits: characters of one message, and number and bytes of the messages that wait for one thread. A thread must not
 * fill an inbox.
 */
export const mostSent = { characters: 100_000, waiting: 100, bytes: 1024 * 1024 }

type MessageEnd = Pick<ThreadRow, 'id' | 'kind' | 'name'>

const nameIn = <Name extends string>(
  key: Name,
  { kind, name }: MessageEnd,
): { [K in Name]?: string } =>
  kind === 'primary' ? {} : ({ [key]: name } as { [K in Name]?: string })

const childOf = ({ kind, id }: MessageEnd): string | undefined =>
  kind === 'primary' ? undefined : id

const roomStatement = statementByForm((whose: ThreadForm) =>
  selectStatement((db, slot: SlotFor<ThreadRef>) =>
    db
      .selectFrom('inbox')
      .select((eb) => [
        eb.fn.countAll<number>().as('count'),
        eb.fn.coalesce(eb.fn.sum<number>(eb.fn('length', ['event'])), eb.lit(0)).as('bytes'),
      ])
      .where((eb) => eb.and(sessionColumns(slot)))
      .where('type', '=', 'agent.thread_message_received')
      .where(isOfThreadForm(whose, slot)),
  ),
)

/** Why the message cannot be sent to the receiver, as a sentence for the agent; undefined when it can. */
export async function findSendRefusal(
  tx: Queries,
  { tenant, session }: SessionRef,
  to: MessageEnd,
  text: string,
): Promise<string | undefined> {
  if (text.length > mostSent.characters)
    return `the message has ${text.length} characters; ${mostSent.characters} are the most. Write it to a file and send its path`
  const ref = { tenant, session, thread: childOf(to) }
  const [room] = await roomStatement(threadFormOf(ref))(tx, ref)
  const { count, bytes } = { count: Number(room?.count ?? 0), bytes: Number(room?.bytes ?? 0) }
  if (count < mostSent.waiting && bytes + text.length <= mostSent.bytes) return undefined
  return `${count} messages wait for ${to.name} already; wait until it has read them`
}

type ThreadMessage = { from: MessageEnd; to: MessageEnd; text: string }

/** The two events of one message, for the logs of sender and receiver. */
export function messageEvents({ from, to, text }: ThreadMessage): {
  sent: EventOf<'agent.thread_message_sent'>
  received: EventOf<'agent.thread_message_received'>
} {
  const content = [{ type: 'text' as const, text }]
  return {
    sent: {
      id: newId('event'),
      type: 'agent.thread_message_sent',
      to_session_thread_id: to.id,
      ...nameIn('to_agent_name', to),
      content,
    },
    received: {
      id: newId('event'),
      type: 'agent.thread_message_received',
      from_session_thread_id: from.id,
      ...nameIn('from_agent_name', from),
      content,
    },
  }
}

/**
 * Admits a message to the inbox of its receiver and marks the receiver as due. Returns the event for the log of the
 * sender.
 */
export async function sendMessage(
  tx: Queries,
  { tenant, session }: SessionRef,
  { now, ...message }: ThreadMessage & { now: number },
): Promise<EventOf<'agent.thread_message_sent'>> {
  const { to } = message
  const { sent, received } = messageEvents(message)
  const waits = { now, due: true, thread: childOf(to) }
  await admitEvents(tx, tenant, session, [toAdmission(received)], waits)
  await makeDue(tx, { tenant, session }, [to.id])
  return sent
}

const waitingFor = (db: Reads, { tenant, session }: SessionRef) =>
  db
    .selectFrom('inbox')
    .select(['position', 'id', 'type', 'created_at', 'event'])
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', session)
    .where('type', '=', 'agent.thread_message_received')
    .where(isOfThread(undefined))
    .orderBy('position')

const senderOf = ({ event }: { event: string }): unknown =>
  parseObject(event)['from_session_thread_id']

/** The ids of the threads whose messages wait for the primary thread. */
export async function sendersWaiting(db: Reads, ref: SessionRef): Promise<Set<unknown>> {
  return new Set((await waitingFor(db, ref).execute()).map(senderOf))
}

/**
 * Removes and returns the messages of these threads to the primary thread. The caller appends them in the same
 * transaction.
 */
export async function takeMessages(
  tx: Queries,
  ref: SessionRef,
  threads: readonly string[],
): Promise<PromotedMessage[]> {
  const found = (await waitingFor(tx, ref).execute()).filter((row) =>
    threads.some((id) => id === senderOf(row)),
  )
  if (found.length > 0)
    await tx
      .deleteFrom('inbox')
      .where('tenant_id', '=', ref.tenant)
      .where('session_id', '=', ref.session)
      .where(
        'position',
        'in',
        found.map(({ position }) => position),
      )
      .execute()
  return found.map(toPromotedMessage)
}
