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
  const { session_thread_id: _, ...fields } = parseObject(row.data)
  return { ...row, data: JSON.stringify(fields) }
}

export async function* ownStreamOf(tailed: AsyncGenerator<TailItem>): AsyncGenerator<TailItem> {
  for await (const each of tailed)
    yield each.kind === 'kept' ? { ...each, row: asThreadEvent(each.row) } : each
}
