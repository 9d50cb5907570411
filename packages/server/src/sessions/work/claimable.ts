/** Which items a poll may claim, and in which order. */
import type { SelectQueryBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Reads } from '../../ground/database/database.ts'
import { isFree } from '../../ground/database/lease.ts'
import type { Tables } from '../../ground/database/tables.ts'
import type { Worker } from './item.ts'

/** Conditions of the partial indexes: SQLite uses a partial index only if its condition appears literally. */
export const itemConditions = {
  live: sql<boolean>`state <> 'stopped'`,
  held: sql<boolean>`state in ('starting', 'active')`,
  reserved: sql<boolean>`state = 'queued' and reserved_ms is not null`,
  waiting: sql<boolean>`state = 'queued' and reserved_ms is null`,
  stopping: sql<boolean>`state = 'stopping'`,
  unwarned: sql<boolean>`state in ('queued', 'starting', 'active') and warned = 0`,
  unhinted: sql<boolean>`state in ('queued', 'starting', 'active') and hinted = 0`,
  stopped: sql<boolean>`state = 'stopped'`,
}
/** The shortest time that an item stays reserved. */
export const selectReclaimMs = (tenant: unknown, environment: unknown) =>
  sql<number>`coalesce((select e.reclaim_ms from environments as e
    where e.tenant_id = ${tenant} and e.id = ${environment}), 0)`
/** How long a worker counts as present after a poll. [work/views] */
export const presentMs = 30_000
/**
 * `by`: the worker, where it matters which one polls. `draw`: a random number below 1, which picks among the lapsed
 * reservations; without it the oldest is taken.
 */
export type ClaimOptions = { now: number; reclaimMs: number; by?: Worker; draw?: number }

type WorkQuery = SelectQueryBuilder<Tables, 'work', { id: string }>

/** Among so many of the oldest lapsed reservations one is drawn. */
const mostDrawn = 100
/** Claims after which an item counts as let lapse often: perhaps it is meant for one worker. */
const oftenLeft = 3

/**
 * One of the lapsed reservations at random. In any fixed order, machines that wait for one session each and poll in step
 * would be given each other's items for ever.
 */
function drawn(query: WorkQuery, draw: number): WorkQuery[] {
  const among = query.clearSelect().clearLimit().clearOrderBy()
  const count = sql<number>`(select count(*) from ${among.select('id').limit(mostDrawn).as('among')})`
  const position = Math.floor(draw * mostDrawn)
  // Rows that another poll holds are skipped behind the offset, so the oldest is asked for as well.
  return [
    query.offset(sql<number>`${position} % (case when ${count} = 0 then 1 else ${count} end)`),
    query,
  ]
}

/**
 * Items that this worker can claim: items that others let lapse, then waiting items, the oldest first, then items that
 * were let lapse often; these are left to other workers at every second poll. Items that it let lapse itself come last,
 * and are left out for a while when another worker polls, which may succeed with them.
 */
export const claimableItems = (
  db: Reads,
  tenant: string,
  environment: string,
  at: ClaimOptions,
) => {
  const { now, reclaimMs, by, draw } = at
  const own = db
    .selectFrom('work')
    .select('id')
    .where('tenant_id', '=', tenant)
    .where('environment_id', '=', environment)
    .limit(1)
  const held = own.where(itemConditions.held).where(isFree('work', now)).orderBy('lease_ms')
  const reserved = own
    .where(itemConditions.reserved)
    .where('reserved_ms', '<=', now - reclaimMs)
    .where('reserved_ms', '<=', sql<number>`${now} - ${selectReclaimMs(tenant, environment)}`)
    .orderBy('reserved_ms')
  const waiting = own
    .where(itemConditions.waiting)
    .where('due_ms', '<=', now)
    .orderBy('due_ms')
    .orderBy('id')
  const worker = by?.id
  const pick = (query: WorkQuery) => (draw === undefined ? [query] : drawn(query, (draw * 2) % 1))
  /** Of those that others let lapse: before the waiting items, and behind them. */
  const lapsed = (query: WorkQuery): [WorkQuery[], WorkQuery[]] => {
    const often = query.where('generation', '>=', oftenLeft)
    const isPatient = draw !== undefined && draw < 0.5
    return [pick(query.where('generation', '<', oftenLeft)), isPatient ? [] : pick(often)]
  }
  if (worker === undefined) {
    const [early, late] = lapsed(reserved)
    return [held, ...early, waiting, ...late]
  }
  const isOthers = sql<boolean>`worker_id is distinct from ${worker}`
  const isOwn = sql<boolean>`worker_id = ${worker}`
  const isAlone = sql<boolean>`not exists (select 1 from work_pollers as p
    where p.tenant_id = ${tenant} and p.environment_id = ${environment}
    and p.worker_id <> ${worker} and p.seen_ms > ${now - presentMs})`
  const [early, late] = lapsed(reserved.where(isOthers))
  return [
    held.where(isOthers),
    ...early,
    waiting,
    ...late,
    held.where(isOwn).where((eb) => eb.or([eb('lease_ms', '<=', now - presentMs), isAlone])),
    reserved
      .where(isOwn)
      .where((eb) => eb.or([eb('reserved_ms', '<=', now - reclaimMs - presentMs), isAlone])),
  ]
}
