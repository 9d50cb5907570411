/** What a session shows of the rows of its threads, for a query of `sessions`. */
import type { Tables } from '../../ground/database/tables.ts'
import { sql } from 'kysely'

/** `wakeup_ms`: when the next thread is woken. `threads_ms`: while its threads ran, less the beginning of each one that runs. */
export type BesideSession = {
  wakeup_ms: number | null
  threads_ms: number | null
  threads_running: number | null
}

const of = (table: keyof Tables) => {
  const name = sql.ref(table)
  return sql`from ${name} where ${name}.tenant_id = sessions.tenant_id and ${name}.session_id = sessions.id`
}
const ofThreads = of('threads')

export const besideSession = [
  sql<number | null>`(select min(due_ms) ${of('wakeups')})`.as('wakeup_ms'),
  sql<
    number | null
  >`(select cast(sum(active_ms - coalesce(running_since_ms, 0)) as bigint) ${ofThreads})`.as(
    'threads_ms',
  ),
  sql<number | null>`(select count(running_since_ms) ${ofThreads})`.as('threads_running'),
] as const

/** Of a session with several threads, all of them together. Undefined of any other. */
export const activeOfThreads = (
  { threads_ms, threads_running }: Partial<BesideSession>,
  now: number,
): number | undefined =>
  (threads_ms ?? null) === null
    ? undefined
    : Number(threads_ms) + Number(threads_running ?? 0) * now

export function withoutBeside<Row extends BesideSession>(row: Row): Omit<Row, keyof BesideSession> {
  const { wakeup_ms: _at, threads_ms: _ms, threads_running: _running, ...rest } = row
  return rest
}
