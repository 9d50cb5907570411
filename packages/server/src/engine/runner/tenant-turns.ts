/**
 * Starts due sessions, tenant by tenant, as far as there are free slots. Waiting sessions stand only in the database.
 */
import type { Share } from '../../ground/core/fairness/share.ts'
import type { Database } from '../../ground/database/database.ts'
import { runOnEach } from '../../ground/database/database.ts'
import { deadOwners, listDueSessions, nextTenantDue } from '../../ground/database/due-sessions.ts'
import type { Ground } from '../../ground/ground.ts'
import type { WorkNotice } from '../../sessions/log/topics.ts'

/** One look takes at most this number of sessions of a tenant, and of tenants. */
const sessionsAtOnce = 500
const tenantsAtOnce = 100
/** Delay of a look after a session has left its slot, so that one look fills several slots. */
const roomMs = 50

type TenantTurnDeps = Ground & {
  slots: Share
  isRunning: (session: string) => boolean
  /** Runs the session in a slot, if one is free. */
  start: (work: WorkNotice, dead: readonly string[]) => void
  guard: (task: () => Promise<void>) => void
  signal: AbortSignal
}

type DueMoment = { now: number; dead: readonly string[] }

export function tenantsInTurn(deps: TenantTurnDeps) {
  const { databases, clock, slots, isRunning, start, guard, signal } = deps
  /** True when a session has found no free slot since the last look. */
  let isFull = false
  let looking: NodeJS.Timeout | undefined
  /** The tenant of the last look; the next look begins with the tenant after it. */
  let last = ''

  async function startSome(database: Database, tenant: string, now: DueMoment): Promise<void> {
    const room = Math.min(slots.room(tenant), sessionsAtOnce)
    if (room === 0) {
      isFull = true
      return
    }
    // Ask for one session more than there are slots: `start` then reports that sessions are left.
    const sessions = await listDueSessions(database, tenant, room + 1, now)
    for (const session of sessions) if (!isRunning(session)) start({ tenant, session }, now.dead)
    if (sessions.length <= room) return
    // More sessions may wait behind these. Slots have become free during the query, or sessions that run were not
    // claimed yet.
    if (slots.room(tenant) === 0) isFull = true
    else if (sessions.some(isRunning)) lookSoon()
  }

  function lookSoon(): void {
    if (signal.aborted) return
    looking ??= setTimeout(() => {
      looking = undefined
      isFull = false
      guard(() => look(async () => []))
    }, roomMs)
  }

  /** Goes once around all tenants at most, from the tenant after `last`. */
  async function startAround(database: Database, now: DueMoment): Promise<void> {
    const seen = new Set<string>()
    while (seen.size < tenantsAtOnce && !signal.aborted) {
      const tenant = await nextTenantDue(database, last, now)
      const isRound = tenant === undefined ? last === '' : seen.has(tenant)
      if (isRound) return
      last = tenant ?? ''
      if (tenant === undefined) continue
      seen.add(tenant)
      await startSome(database, tenant, now)
    }
    isFull = true
  }

  async function look(deadOf: (database: Database) => Promise<string[]>): Promise<void> {
    await runOnEach(databases.due(), async (database) => {
      await startAround(database, { now: clock.now(), dead: await deadOf(database) })
      return true
    })
  }

  return {
    look: () => look(deadOwners),
    /** Records that a session found no free slot. */
    full(): void {
      isFull = true
    },
    /** Looks for more sessions when a slot has become free. */
    left(): void {
      if (isFull) lookSoon()
    },
    stop: () => clearTimeout(looking),
  }
}
