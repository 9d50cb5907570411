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
}

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
  if (waits) all.push(isWaitingFor(tenant, waits, now))
  if (statuses) all.push(sql`head.status in (${sql.join(statuses)})`)
  for (const { op, at } of filter.made) all.push(sql`created_at ${sql.raw(op)} ${at}`)
  return all.length === 0 ? sql<boolean>`1 = 1` : sql<boolean>`${sql.join(all, sql` and `)}`
}
