/**
 * Messages that wait for the turn before them: listed, changed and removed one by one. Whoever comes after the turn has
 * taken the message is told so. [events/waiting]
 */
import type { WaitingMessage } from '@steward/protocol/waiting-messages.ts'
import type { TextBlock } from '@steward/protocol/content.ts'
import type { EventOf } from '@steward/protocol/events.ts'
import type { z } from 'zod'
import { countCharacters } from '../../ground/core/text/characters.ts'
import { invalid, notFound, PlatformError } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/text/ids.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { appendEntries } from '../log/append.ts'
import { isSessionOver, getHeadForUpdate } from '../log/head.ts'
import type { Head } from '../log/head.ts'
import { idleAgain } from '../log/idle.ts'
import { toAdmission, toPromotedMessage } from '../log/inbox.ts'
import { buildCancellation } from '../log/inbox-end.ts'
import { changeWaiting, findWaiting, listWaiting, takeOne, wasTaken } from '../log/inbox-changes.ts'
import type { WaitingRow } from '../log/inbox-changes.ts'
import type { LogEntry } from '../log/log.ts'
import { eventOf } from '../log/log.ts'

const isText = (block: { type: string }): block is z.infer<typeof TextBlock> =>
  block.type === 'text'

/** Characters that a changed message may have. */
const longest = 1024 * 1024

type MessageRef = { tenant: string; session: string; message: string }

/** `already_read`: a turn has taken the message before. */
export type MessageChange = 'changed' | 'removed' | 'already_read'

export async function waitingMessages(
  db: Reads,
  tenant: string,
  session: string,
): Promise<WaitingMessage[]> {
  const rows = await listWaiting(db, tenant, session)
  return rows.map((row) => {
    const event = eventOf(toPromotedMessage(row))
    const content = 'content' in event && Array.isArray(event.content) ? event.content : null
    return {
      id: row.id,
      type: 'waiting_message',
      content,
      session_thread_id: row.thread_id ?? null,
      created_at: row.created_at,
    }
  })
}

/** Locks the session, so that no turn takes the message meanwhile. Throws not_found for a message of no such id. */
async function lockMessage(
  tx: Queries,
  { tenant, session, message }: MessageRef,
): Promise<{ head: Head; row: WaitingRow | undefined }> {
  const head = await getHeadForUpdate(tx, tenant, session)
  if (isSessionOver(head)) throw invalid(`session ${session} has ended: nothing waits in it`)
  const row = await findWaiting(tx, tenant, session, message)
  if (row || (await wasTaken(tx, tenant, session, message))) return { head, row }
  throw notFound('message', message)
}

/**
 * Appends what happened to the message. The append moves the head, so that a turn that has read the message and not
 * taken it yet must read it again.
 */
async function tell(
  tx: Queries,
  { tenant, session }: MessageRef,
  { head, row }: { head: Head; row: WaitingRow },
  event: EventOf<'system.user_message_cancelled'> | EventOf<'system.user_message_changed'>,
  now: number,
): Promise<void> {
  const thread = row.thread_id ?? undefined
  const entry: LogEntry =
    thread === undefined ? { event } : { event: { ...event, session_thread_id: thread }, thread }
  await appendEntries(tx, tenant, session, [entry, ...idleAgain(head, now)], { now })
}

export async function removeMessage(
  tx: Queries,
  ref: MessageRef,
  now: number,
): Promise<MessageChange> {
  const { head, row } = await lockMessage(tx, ref)
  if (!row) return 'already_read'
  await takeOne(tx, ref.tenant, ref.session, row)
  await tell(tx, ref, { head, row }, buildCancellation(row, newId('event'), 'removed'), now)
  return 'removed'
}

export async function changeMessage(
  tx: Queries,
  ref: MessageRef,
  asked: readonly { type: string }[],
  now: number,
): Promise<MessageChange> {
  const content = asked.filter(isText)
  if (content.length < asked.length)
    throw invalid('content: a waiting message is changed to text: post images and files anew')
  const { head, row } = await lockMessage(tx, ref)
  if (!row) return 'already_read'
  if (row.event === '' || countCharacters(content) > longest)
    throw new PlatformError(
      'too_large',
      'a message of megabytes is not changed: remove it, and post it again',
    )
  const changed = toAdmission({ id: row.id, type: 'user.message', content })
  await changeWaiting(tx, ref.tenant, ref.session, row, changed)
  const type = 'system.user_message_changed' as const
  await tell(tx, ref, { head, row }, { id: newId('event'), type, message_id: row.id, content }, now)
  return 'changed'
}
