/**
 * What sessions wait for, read from the rows that hold it: open calls, heads, work items, wakeups. Lists filter by the
 * same queries. [sessions/waiting-on]
 */
import { iso } from '@steward/base/time.ts'
import type { Wait, WaitOwner, WaitType, WaitingOn } from '@steward/protocol/waiting-on.ts'
import { firstWait, waitKinds, waitTypes } from '@steward/protocol/waiting-on.ts'
import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import { primaryThreadId } from '../../ground/core/text/ids.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { selectRaw } from '../../ground/database/select-raw.ts'
import { defineStore } from '../../ground/database/store-of.ts'
import type { Tables } from '../../ground/database/tables.ts'
import { atBudget, requiresAction } from '../log/head.ts'
import { pauseIn } from '../log/pause.ts'
import { textBehind } from './cut-json.ts'

type WaitRow = {
  type: WaitType
  session_id: string
  since: string | null
  since_ms: number | null
  until_ms: number | null
  thread_id: string | null
  event_id: string | null
  environment_id: string | null
  /** The beginning of the event that waits, or of the error before the wait. */
  data: string | null
  /** JSON of the pause that follows the error. */
  retry: string | null
}

/** `ids`: undefined for all sessions of the tenant. */
type WaitScope = { tenant: string; now: number; ids?: readonly string[] | undefined }
type WaitColumns = Partial<
  Record<Exclude<keyof WaitRow, 'type' | 'session_id'>, RawBuilder<unknown>>
>

/** Characters of an event's data that hold its name. */
const dataLength = 600

const columnTypes = {
  since: sql.raw('text'),
  since_ms: sql.raw('bigint'),
  until_ms: sql.raw('bigint'),
  thread_id: sql.raw('text'),
  event_id: sql.raw('text'),
  environment_id: sql.raw('text'),
  data: sql.raw('text'),
  retry: sql.raw('text'),
}

/** One select of the union. `session` is the column of the session's id in `from`. */
function waitsIn(
  type: WaitType,
  { ids }: WaitScope,
  session: string,
  columns: WaitColumns,
  from: RawBuilder<unknown>,
): RawBuilder<WaitRow> {
  const all = Object.entries(columnTypes).map(([name, of]) => {
    const value = columns[name as keyof typeof columnTypes] ?? sql`null`
    return sql`cast(${value} as ${of}) as ${sql.ref(name)}`
  })
  const among = ids ? sql` and ${sql.ref(session)} in (${sql.join([...ids])})` : sql``
  return sql<WaitRow>`select ${sql.lit(type)} as type, ${sql.ref(session)} as session_id, ${sql.join(all)}
    ${from}${among}`
}

const isQuestion = sql<boolean>`event.data like '%"question":%' or event.data like '%"questions":%'`
/** A worker runs the session's calls. */
const isHeld = sql<boolean>`exists (select 1 from work where work.tenant_id = call.tenant_id
  and work.session_id = call.session_id and work.state in ('starting', 'active'))`
const isFree = (now: number) => sql<boolean>`(head.owner is null or head.expires_at < ${now})`

const callWaits = (type: WaitType, scope: WaitScope, where: RawBuilder<boolean>) =>
  waitsIn(
    type,
    scope,
    'call.session_id',
    {
      since: sql`event.created_at`,
      thread_id: sql`call.thread_id`,
      event_id: sql`call.event_id`,
      data: sql`substr(event.data, 1, ${sql.lit(dataLength)})`,
    },
    sql`from calls as call join events as event on event.session_id = call.session_id and event.seq = call.seq
      where call.tenant_id = ${scope.tenant} and call.state <> 'done' and ${where}`,
  )

/** Of the thread that waits: each thread has its own errors and pauses. */
const ofLastError = (
  column: 'data' | 'created_at' | 'opaque',
) => sql`(select error.${sql.ref(column)} from events as error where error.session_id = head.session_id
  and coalesce(error.thread_id, '') = head.events_of and error.type = 'session.error' order by error.seq desc limit 1)`
const backoff = (type: WaitType, scope: WaitScope, where: RawBuilder<boolean>) =>
  waitsIn(
    type,
    scope,
    'head.session_id',
    {
      since: ofLastError('created_at'),
      thread_id: sql`head.thread_id`,
      data: sql`substr(${ofLastError('data')}, 1, ${sql.lit(dataLength)})`,
      retry: ofLastError('opaque'),
    },
    sql`from (
        select session_id, null as thread_id, '' as events_of from session_heads where owner is not null
          and tenant_id = ${scope.tenant} and status = 'rescheduling'
        union all select session_id, id, case when kind = 'primary' then '' else id end from threads
          where tenant_id = ${scope.tenant} and status = 'rescheduling') as head
      where ${where}`,
  )
const isRateLimited = sql<boolean>`${ofLastError('data')} like '%"model_rate_limited_error"%'`

const processWaits = (type: WaitType, scope: WaitScope) =>
  waitsIn(
    type,
    scope,
    'wait.session_id',
    { since_ms: sql`wait.since_ms` },
    sql`from session_waits as wait join session_heads as head on head.session_id = wait.session_id
      where wait.tenant_id = ${scope.tenant} and wait.type = ${sql.lit(type)} and head.owner is not null
        and head.generation = wait.generation`,
  )

const ofWorkers = (scope: WaitScope, state: RawBuilder<boolean>, type: WaitType) =>
  waitsIn(
    type,
    scope,
    'head.session_id',
    { since: sql`work.created_at`, environment_id: sql`work.environment_id` },
    sql`from session_heads as head join work on work.tenant_id = head.tenant_id
        and work.session_id = head.session_id and work.state <> 'stopped'
      where head.tenant_id = ${scope.tenant} and head.awaits_stdio = 1 and ${state}`,
  )

/** Each type of wait, as a query of the sessions that wait so. */
const queries: Record<WaitType, (scope: WaitScope) => RawBuilder<WaitRow>> = {
  approval: (scope) => callWaits('approval', scope, sql`call.state = 'asked'`),
  question: (scope) =>
    callWaits('question', scope, sql`event.type = 'agent.custom_tool_use' and (${isQuestion})`),
  tool_result: (scope) =>
    callWaits(
      'tool_result',
      scope,
      sql`((event.type = 'agent.custom_tool_use' and not (${isQuestion}))
        or (call.worker = 1 and call.state = 'waiting' and ${isHeld}))`,
    ),
  budget: (scope) =>
    waitsIn(
      'budget',
      scope,
      'head.session_id',
      { since_ms: sql`head.idle_since_ms` },
      sql`from session_heads as head where head.tenant_id = ${scope.tenant} and head.status = 'idle'
        and head.budget is not null and ${atBudget} and not (${requiresAction})`,
    ),
  queue: (scope) =>
    waitsIn(
      'queue',
      scope,
      'head.session_id',
      {
        since: sql`(select min(message.created_at) from inbox as message
          where message.session_id = head.session_id)`,
        since_ms: sql`head.idle_since_ms`,
      },
      sql`from session_heads as head where head.tenant_id = ${scope.tenant} and head.due = 1
        and ${isFree(scope.now)}`,
    ),
  worker: (scope) =>
    sql<WaitRow>`${callWaits(
      'worker',
      scope,
      sql`call.worker = 1 and call.state = 'waiting' and not ${isHeld}`,
    )} union all ${ofWorkers(scope, sql`work.state not in ('starting', 'active')`, 'worker')}`,
  rate_limit: (scope) => backoff('rate_limit', scope, isRateLimited),
  model_backoff: (scope) =>
    backoff('model_backoff', scope, sql`not coalesce(${isRateLimited}, 1 = 0)`),
  packages: (scope) => processWaits('packages', scope),
  files: (scope) => processWaits('files', scope),
  sandbox: (scope) => processWaits('sandbox', scope),
  mcp: (scope) =>
    sql<WaitRow>`${processWaits('mcp', scope)} union all ${ofWorkers(
      scope,
      sql`work.state in ('starting', 'active')`,
      'mcp',
    )}`,
  wakeup: (scope) =>
    waitsIn(
      'wakeup',
      scope,
      'wakeup.session_id',
      {
        since_ms: sql`(select head.idle_since_ms from session_heads as head
          where head.session_id = wakeup.session_id)`,
        until_ms: sql`wakeup.due_ms`,
        thread_id: sql`wakeup.thread_id`,
        event_id: sql`wakeup.event_id`,
      },
      sql`from wakeups as wakeup where wakeup.tenant_id = ${scope.tenant}`,
    ),
}

const union = (types: readonly WaitType[], scope: WaitScope): RawBuilder<WaitRow> =>
  sql<WaitRow>`${sql.join(
    types.map((type) => queries[type](scope)),
    sql` union all `,
  )}`

/** The condition for sessions of the tenant that wait for one of these, on `sessions`. */
export const isWaitingFor = (tenant: string, types: readonly WaitType[], now: number) =>
  sql<boolean>`sessions.id in (select waiting.session_id from (${union(types, { tenant, now })}) as waiting)`

/** Sessions in one statement: each type of wait names them all. */
const sessionsAtOnce = 200
const longestMessage = 300

/** A session, as far as its waits depend on it. */
export type WaitingSession = { id: string; archived_at: string | null; updated_at: string }

function waitReads(db: Reads) {
  return {
    /** Counts the sessions of a workspace that are not archived. */
    async counts(tenant: string, now: number): Promise<WaitCounts> {
      const rows = await selectRaw(
        db,
        sql<{ session_id: string; type: WaitType }>`select distinct waiting.session_id, waiting.type
          from (${union(waitTypes, { tenant, now })}) as waiting
          join sessions on sessions.tenant_id = ${tenant} and sessions.id = waiting.session_id
            and sessions.deleted_at is null and sessions.archived_at is null`,
      )
      const first = new Map<string, WaitType>()
      for (const type of waitTypes.toReversed())
        for (const row of rows) if (row.type === type) first.set(row.session_id, type)
      const counts: WaitCounts = { person: 0, money: 0, machine: 0, queue: 0 }
      for (const type of first.values()) {
        counts[waitKinds[type].who]++
        if (type === 'queue') counts.queue++
      }
      return counts
    },

    /** What each session waits for. An archived one waits for nothing. */
    async ofSessions(
      tenant: string,
      sessions: readonly WaitingSession[],
      now: number,
    ): Promise<Map<string, WaitingOn>> {
      const open = sessions.filter(({ archived_at }) => archived_at === null)
      const found = new Map<string, Wait[]>(open.map(({ id }) => [id, []]))
      for (let at = 0; at < open.length; at += sessionsAtOnce) {
        const some = open.slice(at, at + sessionsAtOnce)
        const changed = new Map(some.map(({ id, updated_at }) => [id, updated_at]))
        const scope = { tenant, now, ids: some.map(({ id }) => id) }
        for (const row of await selectRaw(db, union(waitTypes, scope)))
          found.get(row.session_id)?.push(waitOf(row, changed.get(row.session_id) ?? iso(now)))
      }
      return new Map(sessions.map(({ id }) => [id, firstWait(found.get(id) ?? [])]))
    },
  }
}

/** `otherwise`: since when it waits at the most, where no row says it. */
function waitOf(row: WaitRow, otherwise: string): Wait {
  const { type, session_id, since, since_ms, until_ms, thread_id, event_id, environment_id } = row
  const ms = since_ms === null ? undefined : iso(Number(since_ms))
  const until = until_ms === null ? retryAt(row) : iso(Number(until_ms))
  const isChild = thread_id !== null && thread_id !== primaryThreadId(session_id)
  return {
    type,
    since: since ?? ms ?? otherwise,
    ...(until !== undefined && { until }),
    detail: {
      ...(event_id !== null && { event_id }),
      ...(isChild && { session_thread_id: thread_id }),
      ...(environment_id !== null && { environment_id }),
      ...aboutEvent(type, row.data),
    },
  }
}

/** When the model is asked again. Undefined for another wait, and after an error that says no pause. */
function retryAt({ since, retry }: WaitRow): string | undefined {
  const pauseMs = pauseIn(retry)
  if (since === null || pauseMs === undefined) return undefined
  return iso(Date.parse(since) + pauseMs)
}

/** Reads the cut text of an event: the name of a call stands before its input, an error's message behind its type. */
function aboutEvent(type: WaitType, data: string | null): { tool?: string; message?: string } {
  if (data === null) return {}
  if (type === 'rate_limit' || type === 'model_backoff') {
    const message = textBehind('message', data)
    return message === undefined ? {} : { message: message.slice(0, longestMessage) }
  }
  const tool = textBehind('name', data)
  return tool === undefined ? {} : { tool }
}

/** Sessions that wait, by who ends the wait that comes first. */
export type WaitCounts = Record<WaitOwner | 'queue', number>

type ProcessWait = Tables['session_waits']

function waitWrites(db: Queries) {
  return {
    async put(row: ProcessWait): Promise<void> {
      const { generation, since_ms } = row
      await db
        .insertInto('session_waits')
        .values(row)
        .onConflict((conflict) =>
          conflict
            .columns(['tenant_id', 'session_id', 'type'])
            .doUpdateSet({ generation, since_ms }),
        )
        .execute()
    },

    async end({ tenant_id, session_id, type, generation }: Omit<ProcessWait, 'since_ms'>) {
      await db
        .deleteFrom('session_waits')
        .where((eb) => eb.and({ tenant_id, session_id, type, generation }))
        .execute()
    },

    async remove(tenant: string, session: string): Promise<void> {
      await db
        .deleteFrom('session_waits')
        .where('tenant_id', '=', tenant)
        .where('session_id', '=', session)
        .execute()
    },
  }
}

export const waitStore = defineStore(waitReads, waitWrites)
