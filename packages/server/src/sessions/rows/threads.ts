/** Columns of a query of `sessions` that come from the rows of the session's threads. */
import type { Tables } from '../../ground/database/tables.ts'
import { sql } from 'kysely'

/**
 * `wakeup_ms`: time of the next wakeup of a thread. `threads_ms`: sum of the threads' active times, minus the start
 * times of the `threads_running` threads that run now.
 */
export type ThreadSums = {
  wakeup_ms: number | null
  threads_ms: number | null
  threads_running: number | null
}

const of = (table: keyof Tables) => {
  const name = sql.ref(table)
  return sql`from ${name} where ${name}.tenant_id = sessions.tenant_id and ${name}.session_id = sessions.id`
}
const ofThreads = of('threads')

export const threadSums = [
  sql<number | null>`(select min(due_ms) ${of('wakeups')})`.as('wakeup_ms'),
  sql<
    number | null
  >`(select cast(sum(active_ms - coalesce(running_since_ms, 0)) as bigint) ${ofThreads})`.as(
    'threads_ms',
  ),
  sql<number | null>`(select count(running_since_ms) ${ofThreads})`.as('threads_running'),
] as const

/** Active time of all threads together, in milliseconds. Undefined for a session without rows of threads. */
export const activeThreadMs = (
  { threads_ms, threads_running }: Partial<ThreadSums>,
  now: number,
): number | undefined =>
  (threads_ms ?? null) === null
    ? undefined
    : Number(threads_ms) + Number(threads_running ?? 0) * now

export function withoutThreadSums<Row extends ThreadSums>(row: Row): Omit<Row, keyof ThreadSums> {
  const { wakeup_ms: _at, threads_ms: _ms, threads_running: _running, ...rest } = row
  return rest
}
