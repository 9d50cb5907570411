/** Starts the sessions that are due, tenant by tenant, as far as there is room. Whoever waits is in the database alone. */
import type { Share } from '../../ground/core/share.ts'
import type { Clock } from '@steward/base/time.ts'
import type { Database, Databases } from '../../ground/database/database.ts'
import { deadOwners, dueOf, nextTenantDue } from '../../ground/database/due.ts'
import type { WorkNotice } from '../../sessions/log/topics.ts'

/** Of one tenant, and tenants, that one look takes at most. */
const sessionsAtOnce = 500
const tenantsAtOnce = 100
/** After a session has made room for others that wait, together with what comes to an end meanwhile. */
const roomMs = 50

type InTurnDeps = {
  databases: Databases
  clock: Clock
  slots: Share
  /** Runs the session unless it runs already; takes its slot. */
  start: (work: WorkNotice, dead: readonly string[]) => void
  guard: (task: () => Promise<void>) => void
  signal: AbortSignal
}

type Now = { now: number; dead: readonly string[] }

export function tenantsInTurn({ databases, clock, slots, start, guard, signal }: InTurnDeps) {
  /** Whether a session has found no room since the last look. */
  let isFull = false
  let looking: NodeJS.Timeout | undefined
  /** The tenant that was looked at last. */
  let last = ''

  async function startSome(database: Database, tenant: string, now: Now): Promise<void> {
    const room = Math.min(slots.room(tenant), sessionsAtOnce)
    if (room === 0) {
      isFull = true
      return
    }
    // One more than there is room for, so that it is known whether any are left.
    for (const session of await dueOf(database, tenant, room + 1, now))
      start({ tenant, session }, now.dead)
  }

  /** From the tenant behind the last one on, and once around at most. */
  async function startAround(database: Database, now: Now): Promise<void> {
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
    for (const database of databases.all())
      await startAround(database, { now: clock.now(), dead: await deadOf(database) })
  }

  return {
    look: () => look(deadOwners),
    /** A session found no room. */
    full(): void {
      isFull = true
    },
    /** A session has left its slot. */
    left(): void {
      if (!isFull || signal.aborted) return
      looking ??= setTimeout(() => {
        looking = undefined
        isFull = false
        guard(() => look(async () => []))
      }, roomMs)
    },
    stop: () => clearTimeout(looking),
  }
}
