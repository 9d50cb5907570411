/** Events as the stream of their own thread shows them. */
import { parseObject } from '@steward/base/json-object.ts'
import type { EventRow } from '../log.ts'
import type { TailItem } from '../tail.ts'

/**
 * Removes the thread's id from an event. Only the stream of the session shows the id, because it shows events of
 * several threads.
 */
export function asThreadEvent(row: EventRow): EventRow {
  if (row.type.startsWith('session.') || !row.data.includes('"session_thread_id"')) return row
  return { ...row, data: JSON.stringify(withoutThreadName(row.type, parseObject(row.data))) }
}

export function withoutThreadName(
  type: string,
  fields: Record<string, unknown>,
): Record<string, unknown> {
  if (type.startsWith('session.')) return fields
  const { session_thread_id: _, ...own } = fields
  return own
}

/** `withThreadName` of a whole event. */
export const nameThread = (row: EventRow): EventRow =>
  row.thread_id ? { ...row, data: JSON.stringify(withThreadName(row, parseObject(row.data))) } : row

/** Names the thread of an event, among events of all threads. */
export function withThreadName<Row extends Pick<EventRow, 'thread_id'>>(
  row: Row,
  fields: Record<string, unknown>,
): Record<string, unknown> {
  const { thread_id } = row
  return thread_id && !('session_thread_id' in fields)
    ? { session_thread_id: thread_id, ...fields }
    : fields
}

export async function* toThreadStream(tailed: AsyncGenerator<TailItem>): AsyncGenerator<TailItem> {
  for await (const each of tailed)
    yield each.kind === 'kept' ? { ...each, row: asThreadEvent(each.row) } : each
}
