/**
 * Leases: the right of one process to a row, for a limited time. Columns of the row hold owner and expiry. The lease of
 * a session's head also has a generation. Fenced writes update the head's row, so that a stale owner's write finds no
 * row.
 */
import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Queries } from './database.ts'
import type { LeaseColumns } from './table.ts'
import type { LeasedTable, Tables } from './tables.ts'
import { tables } from './tables.ts'

/** References to the columns of a lease, built once. A lease without an owner column ends only by its expiry. */
function leaseRefs(table: LeasedTable) {
  const { owner, expires }: LeaseColumns = tables[table].lease
  return {
    owner: owner === undefined ? undefined : sql.ref(`${table}.${owner}`),
    expires: sql.ref(`${table}.${expires}`),
  }
}

/** Milliseconds of a lease. They matter for a process that is cut off; a dead process is known at once. */
export const leaseMs = 15_000

/** The columns of a row that nobody owns. */
export const releasedLease = { owner: null, expires_at: 0 } as const

export type Fence = { owner: string; generation: number }

/** `isTakenOver`: taken from a failed owner, which counts as a recovery. `threads`: see `session_heads`. */
export type LeaseGrant = Fence & { isTakenOver: boolean; threads: number }

/** The owner of a claim on a session without an owner, and the end of its lease. */
export type HeadClaim = { owner: string; untilMs: number }

/** The columns that a claim on a session without an owner sets. */
export const claimColumns = (owner: RawBuilder<unknown>, untilMs: RawBuilder<unknown>) => ({
  owner,
  previous_owner: sql`null`,
  generation: sql`generation + 1`,
  expires_at: untilMs,
})

/**
 * Claims the head. Undefined while another living owner holds it. `previous_owner` keeps the owner that the claim
 * replaces, which is null after a release, so that a failed owner can be told from a released head.
 */
export async function claimHead(
  tx: Queries,
  sessionId: string,
  { owner, dead, now }: { owner: string; dead: readonly string[]; now: number },
): Promise<LeaseGrant | undefined> {
  const row = await tx
    .updateTable('session_heads')
    .set((eb) => ({
      owner,
      previous_owner: eb.ref('owner'),
      generation: eb('generation', '+', 1),
      expires_at: now + leaseMs,
      recoveries: eb
        .case()
        .when('owner', 'is', null)
        .then(eb.ref('recoveries'))
        .else(eb('recoveries', '+', 1))
        .end(),
    }))
    .where('session_id', '=', sessionId)
    // A process drains a session at most once at a time: it may claim again what it still holds.
    .where((eb) => eb.or([isFree('session_heads', now, dead), eb('owner', '=', owner)]))
    .returning(['generation', 'previous_owner', 'threads'])
    .executeTakeFirst()
  if (!row) return undefined
  const { generation, previous_owner, threads } = row
  return { owner, generation, threads, isTakenOver: previous_owner !== null }
}

/**
 * Prolongs the leases of the sessions that a process runs, except lost ones. A session that the process holds and does
 * not run expires.
 */
export async function prolongHeads(
  tx: Queries,
  owner: string,
  sessions: readonly string[],
  now: number,
): Promise<void> {
  await tx
    .updateTable('session_heads')
    .set({ expires_at: now + leaseMs })
    .where('owner', '=', owner)
    .where('session_id', 'in', sessions)
    .execute()
}

/** Releases the head. Does nothing when the lease was lost. */
export async function releaseHead(tx: Queries, sessionId: string, fence: Fence): Promise<void> {
  await tx
    .updateTable('session_heads')
    .set(releasedLease)
    .where('session_id', '=', sessionId)
    .where('owner', '=', fence.owner)
    .where('generation', '=', fence.generation)
    .execute()
}

/** Ends the lease without a release: the next claim takes the head over from a failed owner. */
export async function expireHead(tx: Queries, sessionId: string, fence: Fence): Promise<void> {
  await tx
    .updateTable('session_heads')
    .set({ expires_at: 0 })
    .where('session_id', '=', sessionId)
    .where('owner', '=', fence.owner)
    .where('generation', '=', fence.generation)
    .execute()
}

/**
 * True for a row that may be claimed: no owner, an expired lease, or a dead owner. The statement must name the table
 * without an alias.
 */
export const isFree = (
  table: LeasedTable,
  now: number,
  dead: readonly string[] = [],
): RawBuilder<boolean> => {
  const { owner, expires } = leaseRefs(table)
  if (!owner) return sql`${expires} <= ${now}`
  if (dead.length === 0) return sql`(${owner} is null or ${expires} <= ${now})`
  return sql`(${owner} is null or ${expires} <= ${now} or ${owner} in (${sql.join([...dead])}))`
}

/** For a head that was read: true while a living owner other than `self` holds it. */
export const isHeldByAnother = (
  { owner, expires_at }: Pick<Tables['session_heads'], 'owner' | 'expires_at'>,
  self: string,
  { now, dead }: { now: number; dead: readonly string[] },
): boolean => owner !== null && owner !== self && expires_at > now && !dead.includes(owner)
