/** The filters of lists of sessions, as a condition on `sessions` joined with `session_heads as head`. */
import type { WaitType } from '@steward/protocol/waiting-on.ts'
import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Reads } from '../../ground/database/database.ts'
import type { TimeComparison } from '../../ground/database/page-order.ts'
import type { HeadStatus } from '../../ground/database/tables.ts'
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
  /** Units of money. */
  cost?: { least?: number | undefined; most?: number | undefined } | undefined
  /** Words that the title, or the first message, must hold, in lower case. */
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

const likePattern = (word: string): string => `%${word.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`

/** `now`, in milliseconds, tells a lease that holds from one that has run out. */
export function isFound(
  db: Reads,
  tenant: string,
  filter: SessionFilter,
  now: number,
): RawBuilder<boolean> {
  const all: RawBuilder<unknown>[] = []
  const { agentId, agentVersion, deploymentId, memoryStoreId, statuses, waits } = filter
  if (!filter.archived) all.push(sql`archived_at is null`)
  if (agentId) all.push(sql`agent_id = ${agentId}`)
  if (agentVersion) all.push(sql`agent_version = ${agentVersion}`)
  if (deploymentId) all.push(sql`deployment_id = ${deploymentId}`)
  if (memoryStoreId)
    all.push(sql`sessions.id in (select session_id from session_resources where tenant_id = ${tenant}
      and type = 'memory_store' and refers_to = ${memoryStoreId})`)
  for (const pair of filter.metadata ?? [])
    all.push(sql`sessions.id in ${sessionsWith(db, tenant, pair)}`)
  const { environmentId, createdBy, cost, words, failed } = filter
  if (environmentId) all.push(sql`environment_id = ${environmentId}`)
  if (createdBy) all.push(sql`creator_id = ${createdBy}`)
  if (cost?.least !== undefined) all.push(sql`head.list_cost >= ${cost.least}`)
  if (cost?.most !== undefined) all.push(sql`head.list_cost <= ${cost.most}`)
  for (const word of words ?? [])
    all.push(sql`lower(coalesce(title, ${firstMessage}, '')) like ${likePattern(word)} escape '\\'`)
  if (failed) all.push(hasFailed)
  if (waits) all.push(isWaitingFor(tenant, waits, now))
  if (statuses) all.push(sql`head.status in (${sql.join(statuses)})`)
  for (const { op, at } of filter.made) all.push(sql`created_at ${sql.raw(op)} ${at}`)
  return all.length === 0 ? sql<boolean>`1 = 1` : sql<boolean>`${sql.join(all, sql` and `)}`
}
