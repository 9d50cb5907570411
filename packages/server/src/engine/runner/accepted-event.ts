/** The event at which a session can be forked when what came after it cannot go on. */
import type { Reads } from '../../ground/database/database.ts'
import { eventOf, readEvents } from '../../sessions/log/log.ts'
import type { ThreadRef } from '../../ground/core/refs.ts'

/** Requests that failed, among which one is looked for that did not. */
const lookedBack = 20

/**
 * The `seq` of the end of the newest model request that did not fail: a provider has accepted everything up to it.
 * Undefined for a child thread, at whose events no session is forked.
 */
export async function acceptedEvent(
  read: Reads,
  { tenant, session, thread }: ThreadRef,
): Promise<number | undefined> {
  if (thread !== undefined) return undefined
  const range = { order: 'desc', limit: lookedBack, thread: null } as const
  const types = ['span.model_request_end'] as const
  const ends = await readEvents(read, tenant, session, { ...range, types })
  const accepted = ends.find((row) => {
    const event = eventOf(row)
    return event.type === 'span.model_request_end' && event.is_error === false
  })
  return accepted?.seq
}

/** How people go on after a turn that was given up. */
export async function waysOn(read: Reads, ref: ThreadRef, hasWaiting: boolean): Promise<string> {
  const waiting = hasWaiting ? ', with which those that wait are read' : ''
  const accepted = await acceptedEvent(read, ref)
  const fork =
    accepted === undefined
      ? ''
      : `, or fork the session with \`at_seq\` ${accepted} to go on without it`
  return `; send a message to go on${waiting}${fork}`
}
