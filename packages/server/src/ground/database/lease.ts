/**
 * Ownership of a row by one process: claim, beat, release over a table with `owner`, `generation` and `expires_at`.
 * The generation stands on the row that fenced writes update, so that a stale owner's write finds no row.
 */
import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Queries } from './database.ts'

/** Expiry is for a process that is cut off; one that is dead is known at once. */
export const leaseMs = 15_000

export type Fence = { owner: string; generation: number }

/** `isTakenOver`: from an owner that failed, and counted as a recovery; not from nobody. */
export type LeaseGrant = Fence & { isTakenOver: boolean }

/**
 * The owner and generation after the claim, or undefined while another living owner holds the row. The row keeps the name of
 * the owner that the claim replaces: none after a release, so that a death is told from a row that was given back.
 */
export async function claim(
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
    .where((eb) => eb.or([isFree(headLease, dead, now), eb('owner', '=', owner)]))
    .returning(['generation', 'previous_owner'])
    .executeTakeFirst()
  if (!row) return undefined
  return { owner, generation: row.generation, isTakenOver: row.previous_owner !== null }
}

/**
 * Prolongs the leases of the sessions that a process runs; the leases it lost meanwhile are not among them. A session that
 * it holds and does not run is left to expire.
 */
export async function beat(
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

/** Gives the row back; nothing happens when it was lost. */
export async function release(tx: Queries, sessionId: string, fence: Fence): Promise<void> {
  await tx
    .updateTable('session_heads')
    .set({ owner: null, expires_at: 0 })
    .where('session_id', '=', sessionId)
    .where('owner', '=', fence.owner)
    .where('generation', '=', fence.generation)
    .execute()
}

/** Ends the lease without giving the row back: whoever claims it next takes it from an owner that failed. */
export async function expire(tx: Queries, sessionId: string, fence: Fence): Promise<void> {
  await tx
    .updateTable('session_heads')
    .set({ expires_at: 0 })
    .where('session_id', '=', sessionId)
    .where('owner', '=', fence.owner)
    .where('generation', '=', fence.generation)
    .execute()
}

/** The columns of a lease, as the statement names them. */
export type LeaseColumns = { owner: string; expires: string }

/** True for a row that anyone may claim: no owner, an expired lease, or an owner that is dead. */
export function isFree(
  { owner, expires }: LeaseColumns,
  dead: readonly string[],
  now: number,
): RawBuilder<boolean> {
  const ofDead = dead.length > 0 ? sql`or ${sql.ref(owner)} in (${sql.join([...dead])})` : sql``
  return sql<boolean>`(${sql.ref(owner)} is null or ${sql.ref(expires)} < ${now} ${ofDead})`
}

/** The lease of a session's runner. */
export const headLease: LeaseColumns = { owner: 'owner', expires: 'expires_at' }
