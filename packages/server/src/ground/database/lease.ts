/**
 * Leases: the right of one process to a row, for a while. Owner and expiry stand in columns of the row. The lease of a session's
 * head has a generation besides, on the row that fenced writes update, so that a stale owner's write finds no row.
 */
import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Queries } from './database.ts'
import type { Tables } from './tables.ts'

/** References are made once: each turn claims a head. Without an owner the lease ends by its expiry alone. */
export const leaseRefs = (
  table: keyof Tables,
  { owner, expires }: { owner?: string; expires: string },
) => ({
  owner: owner === undefined ? undefined : sql.ref(`${table}.${owner}`),
  expires: sql.ref(`${table}.${expires}`),
})

const leases = {
  /** Of whoever is about to run it, until another time; the unit of the run decides. */
  deployments: leaseRefs('deployments', { expires: 'due_ms' }),
  session_heads: leaseRefs('session_heads', { owner: 'owner', expires: 'expires_at' }),
  /** An attempt, which its number fences. */
  webhook_deliveries: leaseRefs('webhook_deliveries', { expires: 'due_ms' }),
  /** A worker's. */
  work: leaseRefs('work', { expires: 'lease_ms' }),
}

/** Expiry is for a process that is cut off; one that is dead is known at once. */
export const leaseMs = 15_000

/** The columns of a row that nobody owns. */
export const released = { owner: null, expires_at: 0 } as const

export type Fence = { owner: string; generation: number }

/** `isTakenOver`: from an owner that failed, and counted as a recovery; not from nobody. `threads`: see `session_heads`. */
export type LeaseGrant = Fence & { isTakenOver: boolean; threads: number }

/** Who claims a session that has no owner, and until when. */
export type Claimed = { owner: string; untilMs: number }

/** What a claim of a session without an owner sets: nothing was taken over, and no attempt has failed. */
export const claimColumns = (owner: RawBuilder<unknown>, untilMs: RawBuilder<unknown>) => ({
  owner,
  previous_owner: sql`null`,
  generation: sql`generation + 1`,
  expires_at: untilMs,
})

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
    .where((eb) => eb.or([isFree('session_heads', now, dead), eb('owner', '=', owner)]))
    .returning(['generation', 'previous_owner', 'threads'])
    .executeTakeFirst()
  if (!row) return undefined
  const { generation, previous_owner, threads } = row
  return { owner, generation, threads, isTakenOver: previous_owner !== null }
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
    .set(released)
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

/**
 * True for a row that may be claimed: no owner, an expired lease, or an owner that is dead. The statement names the table without
 * an alias.
 */
export const isFree = (
  table: keyof typeof leases,
  now: number,
  dead: readonly string[] = [],
): RawBuilder<boolean> => isFreeBy(leases[table], now, dead)

export function isFreeBy(
  { owner, expires }: ReturnType<typeof leaseRefs>,
  now: number,
  dead: readonly string[],
): RawBuilder<boolean> {
  if (!owner) return sql`${expires} <= ${now}`
  if (dead.length === 0) return sql`(${owner} is null or ${expires} <= ${now})`
  return sql`(${owner} is null or ${expires} <= ${now} or ${owner} in (${sql.join([...dead])}))`
}

/** Of a head that was read: the opposite of `isFree`, and false for what `self` holds. */
export const isHeldByAnother = (
  { owner, expires_at }: Pick<Tables['session_heads'], 'owner' | 'expires_at'>,
  self: string,
  { now, dead }: { now: number; dead: readonly string[] },
): boolean => owner !== null && owner !== self && expires_at > now && !dead.includes(owner)
