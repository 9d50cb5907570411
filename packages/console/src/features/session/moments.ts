/** When an event came to be: processed, or as long as it waits, made. */
import type { SessionEvent } from '../../lib/api/types.ts'

export const timeOf = (event: SessionEvent): string => event.processed_at ?? event.created_at

/** Milliseconds. */
export const momentOf = (event: SessionEvent): number => Date.parse(timeOf(event))

/** Of an event of a child thread: its id. */
export const threadOf = (event: object): string | undefined =>
  'session_thread_id' in event && typeof event.session_thread_id === 'string'
    ? event.session_thread_id
    : undefined
