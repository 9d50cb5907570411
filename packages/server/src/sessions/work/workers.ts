/** The workers of an environment, as far as polls and claims tell of them. [work/workers] */
import { iso } from '@steward/base/time.ts'
import type { WorkerShown } from '@steward/protocol/work.ts'
import type { Reads } from '../../ground/database/database.ts'
import { itemConditions, presentMs } from './claimable.ts'
import type { WorkItem } from './item.ts'

/** Claims of each state, and workers that polled lately, at most. */
const [mostClaims, mostPollers] = [1_000, 500]

type LiveClaim = Pick<
  WorkItem,
  'id' | 'session_id' | 'state' | 'worker_id' | 'key_id' | 'reserved_ms' | 'latest_heartbeat_at'
>

/** Those that were seen last come first. A worker without a name is told from others by its key. */
export async function listWorkers(
  db: Reads,
  tenant: string,
  environment: string,
  now: number,
): Promise<WorkerShown[]> {
  const [pollers, claims] = await Promise.all([
    pollersOf(db, tenant, environment),
    claimsOf(db, tenant, environment, now),
  ])
  const found = new Map<string, { name: string | null; seenMs: number; polledMs: number }>()
  for (const { worker_id, seen_ms } of pollers) {
    const seenMs = Number(seen_ms)
    found.set(worker_id, { name: worker_id, seenMs, polledMs: seenMs })
  }
  const held = Map.groupBy(claims, keyOf)
  for (const [key, own] of held) {
    const known = found.get(key) ?? { name: own[0]?.worker_id ?? null, seenMs: 0, polledMs: 0 }
    const seenMs = Math.max(known.seenMs, ...own.map(lastSign))
    found.set(key, { ...known, seenMs })
  }
  return [...found]
    .toSorted(([, one], [, other]) => other.seenMs - one.seenMs)
    .map(([key, { name, seenMs, polledMs }]) => {
      const own = held.get(key) ?? []
      return {
        type: 'worker',
        name,
        key_id: own[0]?.key_id ?? null,
        last_seen_at: iso(seenMs),
        is_polling: polledMs > now - presentMs,
        claims: own.map(showClaim),
      }
    })
}

/** No name begins with a NUL: the header that carries it cannot. */
const keyOf = ({ worker_id, key_id }: LiveClaim): string => worker_id ?? `\0${key_id ?? ''}`

const lastSign = ({ reserved_ms, latest_heartbeat_at }: LiveClaim): number =>
  Math.max(Number(reserved_ms ?? 0), Date.parse(latest_heartbeat_at ?? iso(0)))

const showClaim = ({
  id,
  session_id,
  state,
  latest_heartbeat_at,
}: LiveClaim): WorkerShown['claims'][number] => ({
  work_id: id,
  session_id,
  state,
  latest_heartbeat_at,
})

const pollersOf = (db: Reads, tenant: string, environment: string) =>
  db
    .selectFrom('work_pollers')
    .select(['worker_id', 'seen_ms'])
    .where('tenant_id', '=', tenant)
    .where('environment_id', '=', environment)
    .orderBy('seen_ms', 'desc')
    .limit(mostPollers)
    .execute()

/** Claims that have not lapsed, one query for each of the partial indexes. */
async function claimsOf(
  db: Reads,
  tenant: string,
  environment: string,
  now: number,
): Promise<LiveClaim[]> {
  const those = (state: typeof itemConditions.held, until: 'lease_ms' | 'reserved_until_ms') =>
    db
      .selectFrom('work')
      .select(['id', 'session_id', 'state', 'worker_id', 'key_id'])
      .select(['reserved_ms', 'latest_heartbeat_at'])
      .where('tenant_id', '=', tenant)
      .where('environment_id', '=', environment)
      .where(state)
      .where(until, '>', now)
      .limit(mostClaims)
      .execute()
  const all = await Promise.all([
    those(itemConditions.held, 'lease_ms'),
    those(itemConditions.stopping, 'lease_ms'),
    those(itemConditions.reserved, 'reserved_until_ms'),
  ])
  return all.flat()
}
