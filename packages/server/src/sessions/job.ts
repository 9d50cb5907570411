/**
 * Removes the rows of deleted sessions after a delay, and long texts without a message, in small transactions, so that
 * other writers do not wait.
 */
import type { Job } from '../ground/core/time/jobs.ts'
import { iso } from '@steward/base/time.ts'
import type { Database, Queries } from '../ground/database/database.ts'
import { runOnEach } from '../ground/database/database.ts'
import type { Ground } from '../ground/ground.ts'
import { removeCalls } from './log/calls.ts'
import { removeOldest } from './log/log.ts'
import { removeLeftTexts, removeSessionTexts } from './log/long-texts.ts'
import { auditRemoval } from '../tenants/audit/removal.ts'
import { removeDependents } from './remove.ts'
import { sessionStore } from './rows/sessions.ts'

const everyMs = 60_000
const [sessionsAtOnce, textsAtOnce] = [50, 50]
/** Limits of one transaction: rows, and bytes of events, because an event may have many megabytes. */
const part = { limit: 250, bytes: 1024 * 1024 }

export function sessionJob(deps: Ground & { deletedMs: number }): Job {
  const { databases, clock, deletedMs } = deps
  const walk = databases.walk(everyMs)
  const run = () =>
    runOnEach(walk(), async (database) => {
      const now = clock.now()
      const isComplete = await removeDeletedSessions(database, now, deletedMs)
      return (await removeLeftTexts(database, now, textsAtOnce)) && isComplete
    })
  return { name: 'remove deleted sessions', everyMs, run }
}

/**
 * Returns true when no more sessions are left. Skips a session whose folder still exists: the runner removes the folder
 * first.
 */
export async function removeDeletedSessions(
  database: Database,
  now: number,
  deletedMs: number,
): Promise<boolean> {
  const before = iso(now - deletedMs)
  const found = await sessionStore(database.read).deletedBefore(before, sessionsAtOnce)
  for (const { tenant_id: tenant, id: session } of found)
    await removeSessionRows(database, { tenant, session, now, isTold: true })
  return found.length < sessionsAtOnce
}

/** The last rows go now: a peer may have removed them just before. */
async function tellEnd(
  tx: Queries,
  { tenant, session, now }: { tenant: string; session: string; now: number },
): Promise<void> {
  const row = await sessionStore(tx).findDeletedForUpdate(tenant, session)
  if (!row) return
  const facts = { deleted_at: row.deleted_at, created_at: row.created_at, events: row.next_seq }
  const line = { action: 'session.remove', type: 'session', id: session, facts } as const
  await auditRemoval(tx, tenant, line, now)
}

/**
 * Removes all rows of a deleted session with which no runner has work any more. `isTold`: a line of the audit says so.
 */
export async function removeSessionRows(
  database: Database,
  {
    tenant,
    session,
    now,
    isTold = false,
  }: { tenant: string; session: string; now: number; isTold?: boolean },
): Promise<void> {
  const removePart = async (tx: Queries) =>
    (await removeOldest(tx, tenant, session, part)) &&
    (await removeCalls(tx, tenant, session, part.limit))
  let isGone = false
  while (!isGone) isGone = await database.write(removePart)
  await removeSessionTexts(database, { tenant, session })
  await database.write(async (tx) => {
    await removeDependents(tx, { tenant, session, now })
    if (isTold) await tellEnd(tx, { tenant, session, now })
    await sessionStore(tx).forget(tenant, session)
  })
}
