/** The filters of lists of sessions, as a condition on `sessions` joined with `session_heads as head`. */
import type { WaitType } from '@steward/protocol/waiting-on.ts'
import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Reads } from '../../ground/database/database.ts'
import { likeInJson, toLikePattern } from '../../ground/database/like.ts'
import type { TimeComparison } from '../../ground/database/page-order.ts'
import type { HeadStatus } from '../../ground/database/tables/sessions.ts'
import { sessionsWith } from './metadata.ts'
import { isWaitingFor } from './waits.ts'

export type SessionFilter = {
  agentId?: string | undefined
  agentVersion?: number | undefined
  deploymentId?: string | undefined
  memoryStoreId?: string | undefined
  /** Only sessions whose metadata has all of these pairs. */
  metadata?: readonly (readonly [key: string, value: string])[]
  statuses?: HeadStatus[] | undefined
  waits?: readonly WaitType[] | undefined
  archived: boolean
  made: TimeComparison[]
  environmentId?: string | undefined
  createdBy?: string | undefined
  /** Only forks of this session. */
  forkedFrom?: string | undefined
  /** Units of money. */
  cost?: { least?: number | undefined; most?: number | undefined } | undefined
  /** Words that the title, or without one the first message, must hold. */
  words?: readonly string[] | undefined
  /** Only sessions whose last turn failed. */
  failed?: boolean | undefined
}

/** The beginning of the first message of a session, as a column of `sessions`. A message comes with the first events. */
export const firstMessage = sql<
  string | null
>`(select substr(message.data, 1, 600) from events as message
  where message.session_id = sessions.id and message.seq <= 20 and message.type = 'user.message'
  order by message.seq limit 1)`

export const hasFailed = sql<boolean>`(head.status = 'idle'
  and coalesce(head.stop_reason, '') like '%"type":"retries_exhausted"%')`

/** What an event of one text has before it. */
const beforeText = '{"content":[{"type":"text","text":"'
const said = sql`lower(replace(${firstMessage}, ${sql.lit(beforeText)}, ''))`

const hasWord = (word: string): RawBuilder<boolean> =>
  sql`(lower(title) like ${`%${toLikePattern(word)}%`} escape '!'
    or title is null and ${said} like ${`%${likeInJson(word)}%`} escape '!')`

/** What the fork's origin, which begins with the session, is like as JSON. */
const isForkOf = (session: string): string => `{"session_id":"${likeInJson(session)}"%`

/** `now`, in milliseconds, tells a lease that holds from one that has run out. */
export function isFound(
  db: Reads,
  tenant: string,
  filter: SessionFilter,
  now: number,
): RawBuilder<boolean> {
  const { agentId, agentVersion, deploymentId, environmentId, memoryStoreId, createdBy } = filter
  const { archived, cost, failed, statuses, waits, words = [], metadata = [], made } = filter
  const given = <Value>(value: Value | undefined, is: (value: Value) => RawBuilder<unknown>) =>
    value === undefined ? [] : [is(value)]
  const all = [
    ...given(archived ? undefined : false, () => sql`archived_at is null`),
    ...given(agentId, (id) => sql`agent_id = ${id}`),
    ...given(agentVersion, (version) => sql`agent_version = ${version}`),
    ...given(deploymentId, (id) => sql`deployment_id = ${id}`),
    ...given(environmentId, (id) => sql`environment_id = ${id}`),
    ...given(
      memoryStoreId,
      (id) => sql`sessions.id in (select session_id from session_resources
        where tenant_id = ${tenant} and type = 'memory_store' and refers_to = ${id})`,
    ),
    ...metadata.map((pair) => sql`sessions.id in ${sessionsWith(db, tenant, pair)}`),
    ...given(
      filter.forkedFrom,
      (id) => sql`sessions.id in (select id from sessions where tenant_id = ${tenant}
        and forked_from is not null and forked_from like ${isForkOf(id)} escape '!')`,
    ),
    ...given(createdBy, (id) => sql`creator_id = ${id}`),
    ...given(cost?.least, (units) => sql`head.list_cost >= ${units}`),
    ...given(cost?.most, (units) => sql`head.list_cost <= ${units}`),
    ...words.map(hasWord),
    ...given(failed || undefined, () => hasFailed),
    ...given(waits, (types) => isWaitingFor(tenant, types, now)),
    ...given(statuses, (words) => sql`head.status in (${sql.join(words)})`),
    ...made.map(({ op, at }) => sql`created_at ${sql.raw(op)} ${at}`),
  ]
  return all.length === 0 ? sql<boolean>`1 = 1` : sql<boolean>`${sql.join(all, sql` and `)}`
}
