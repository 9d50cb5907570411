/** Messages that join the turn that runs, as the surfaces promise that post them so. [openai/events/steer] */
import type { Queries } from '../../ground/database/database.ts'
import { isAtBudget } from '../../sessions/log/head.ts'
import { lastSteering, takeWaiting } from '../../sessions/log/inbox.ts'
import { appendStep } from '../../sessions/log/threads/append.ts'
import { findThreadForUpdate } from '../../sessions/log/threads/team.ts'
import type { SessionLease } from './steps.ts'
import { isHeld } from './steps.ts'

/** Moves them from the inbox to the log. Returns false where none is, and where the lease was lost. */
export async function joinMessages(
  tx: Queries,
  lease: SessionLease,
  now: number,
): Promise<boolean> {
  const { tenant, session, thread } = lease
  if (thread !== undefined) return false
  // The head is locked, so that nothing else takes the messages.
  const head = await findThreadForUpdate(tx, lease)
  if (!head || !isHeld(head, lease.fence) || isAtBudget(head)) return false
  const upTo = await lastSteering(tx, { tenant, session })
  if (upTo === undefined) return false
  const messages = await takeWaiting(tx, tenant, session, upTo)
  await appendStep(tx, lease, head, messages, { now, due: true })
  return true
}
