/**
 * Ends a session whose turns end their process repeatedly, because each time the turns of other sessions in that
 * process end too. [sessions/status/failed]
 */
import { newId } from '../../ground/core/ids.ts'
import type { Queries } from '../../ground/database/database.ts'
import type { Head } from '../../sessions/log/head.ts'
import type { InboxItem } from '../../sessions/log/inbox.ts'
import { cancellationOf, dropWaiting } from '../../sessions/log/inbox-end.ts'
import type { LogEntry } from '../../sessions/log/log.ts'
import { eventOf, readEvents } from '../../sessions/log/log.ts'
import type { ThreadPlace } from '../../sessions/log/threads/team.ts'
import { isWorking } from '../../sessions/log/threads/team.ts'
import { sessionStore } from '../../sessions/rows/sessions.ts'
import { cancelWakeup } from '../../sessions/rows/wakeups.ts'
import { endThreads } from '../../sessions/threads/archive.ts'
import { stopItemOf } from '../../sessions/work/queue.ts'

const gaveUp = 'the process that ran this turn ended'

export const givenUpMessage = (times: number): string =>
  `${gaveUp} ${times} times in a row; the turn was given up`

/** Events of an agent that show that its session can continue. */
const signsOfLife = [
  'agent.message',
  'agent.thinking',
  'agent.tool_use',
  'agent.mcp_tool_use',
  'agent.custom_tool_use',
  'agent.advisor_tool_use',
] as const

/**
 * True when this turn is the second one in a row to be given up, without an event of the agent in between. False for a
 * child thread and while other threads work: then the turn fails alone, and the parent of a child thread gets a
 * message.
 */
export async function isBeyondRecovery(
  tx: Queries,
  { tenant, session, thread }: ThreadPlace,
  { team }: Head,
): Promise<boolean> {
  const others = team?.others ?? []
  if (thread !== undefined || others.some(({ due, status }) => due === 1 || isWorking(status)))
    return false
  const types = ['session.error', ...signsOfLife] as const
  const range = { types, order: 'desc', limit: 1, thread: null } as const
  const [last] = await readEvents(tx, tenant, session, range)
  const event = last && eventOf(last)
  return event?.type === 'session.error' && event.error.message.startsWith(gaveUp)
}

/** Cancels everything that waits in the session, and returns the last events of its log. */
export async function failureEntries(
  tx: Queries,
  { tenant, session }: ThreadPlace,
  head: Head,
  { queue, why }: { queue: readonly InboxItem[]; why: string },
  now: number,
): Promise<LogEntry[]> {
  await dropWaiting(tx, tenant, session, queue.at(-1)?.position ?? 0)
  // The last change of a failed session says when it ended.
  await sessionStore(tx).update(tenant, session, {}, now)
  await stopItemOf(tx, tenant, session, now)
  const gone = queue
    .filter(({ type }) => type === 'user.message')
    .map((message) => ({ event: cancellationOf(message, newId('event'), 'failed') }))
  const message = `${why}, like the one before: the session is over; fork it to go on from an earlier event`
  const retry_status = { type: 'terminal' } as const
  const error = { type: 'unknown_error', message, retry_status } as const
  return [
    ...gone,
    ...(head.threads === 0 ? [] : await endThreads(tx, { tenant, session }, now)),
    ...(await cancelWakeup(tx, { tenant, session }, 'failed')),
    { event: { id: newId('event'), type: 'session.error', error } },
    { event: { id: newId('event'), type: 'session.status_terminated' } },
  ]
}
