/** Ends the lease of a session whose drain has ended. */
import { expireHead, releaseHead } from '../../ground/database/lease.ts'
import { notifyRunners } from '../../sessions/log/topics.ts'
import type { SessionLease } from './steps.ts'
import type { LoopEnd } from './threads/crew.ts'
import type { DrainDeps } from './turn-deps.ts'

/**
 * Lets the next process claim the session without waiting for the lease. Does not throw: the failure may be the
 * database's.
 */
export async function expireLease(
  { database, log }: DrainDeps,
  { session, fence }: SessionLease,
): Promise<void> {
  try {
    await database.write((tx) => expireHead(tx, session, fence))
  } catch (error) {
    log.warn('the lease of a session could not be ended; it runs out by itself', {
      error,
      session_id: session,
    })
  }
}

export async function leaveSession(
  deps: DrainDeps,
  lease: SessionLease,
  end: LoopEnd,
): Promise<'lost' | 'rested'> {
  if (end === 'rested') return end
  if (end === 'lost') {
    deps.log.warn('a session was taken over by another process', { session_id: lease.session })
    await deps.abandon(lease)
    return 'lost'
  }
  await deps.database.write(async (tx) => {
    await releaseHead(tx, lease.session, lease.fence)
    // The next process need not wait for its look at due sessions. This process no longer receives its own notification.
    notifyRunners(tx, { tenant: lease.tenant, session: lease.session })
  })
  return 'rested'
}
