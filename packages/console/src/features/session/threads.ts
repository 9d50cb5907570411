/** The threads of a session: what belongs to the conversation of each. */
import type { SessionEvent } from '../../lib/api/types.ts'
import { threadOf } from './moments.ts'

export type SessionThread = { id: string; name: string; isRunning: boolean }

type ThreadEvent = Extract<SessionEvent, { session_thread_id: string; agent_name: string }>

const tellsOfThread = (event: SessionEvent): event is ThreadEvent =>
  event.type.startsWith('session.thread_') && 'agent_name' in event

/** Child threads in the order in which they were started. */
export function threadsOf(events: readonly SessionEvent[]): SessionThread[] {
  const threads = new Map<string, SessionThread>()
  for (const event of events) {
    if (!tellsOfThread(event)) continue
    // The primary thread tells of itself as well, and is started by nobody.
    const isChild = event.type === 'session.thread_created' || threads.has(event.session_thread_id)
    if (!isChild) continue
    threads.set(event.session_thread_id, {
      id: event.session_thread_id,
      name: event.agent_name,
      isRunning: event.type === 'session.thread_status_running',
    })
  }
  return [...threads.values()]
}

/** Events that a thread itself has said and done. */
export const eventsOfThread = (
  events: readonly SessionEvent[],
  thread: string,
): readonly SessionEvent[] =>
  events.filter((event) => threadOf(event) === thread && !tellsOfThread(event))

/**
 * The primary conversation. What a child does stays in its own, but for the calls that wait for a person: those are
 * answered here as well.
 */
export const primaryEvents = (
  events: readonly SessionEvent[],
  asked: ReadonlySet<string>,
): readonly SessionEvent[] =>
  events.filter((event) => {
    if (threadOf(event) === undefined || tellsOfThread(event)) return true
    return asked.has(event.id) || ('tool_use_id' in event && asked.has(String(event.tool_use_id)))
  })
