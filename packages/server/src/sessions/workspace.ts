/**
 * Removes everything that a workspace has in its own database, and its blobs. Its sessions come first, because they may
 * run. Each call does a bounded part and continues where an earlier call, of any process, ended.
 */
import type { Blobs } from '../ground/blobs/blobs.ts'
import { NoWorkspaceError, WorkspaceDatabaseError } from '../ground/core/errors.ts'
import type { Database } from '../ground/database/database.ts'
import { removeRowsAt } from '../ground/database/workspace-rows.ts'
import type { Ground } from '../ground/ground.ts'
import { postEvents } from './events/post.ts'
import { removeSessionRows } from './job.ts'
import { getHeadForUpdate } from './log/head.ts'
import { lastInterrupt } from './log/inbox-end.ts'
import { notifyInterrupt, notifyRunners } from './log/topics.ts'
import { sessionStore } from './rows/sessions.ts'
import { isRunning } from './update.ts'
import { removeWork } from './work/remove.ts'

export type ContentsDeps = Ground & { blobs: Blobs }

const sessionsAtOnce = 20
/**
 * A session whose turn still runs this long after its interrupt is deleted all the same; the process can then write
 * nothing more.
 */
const patienceMs = 10_000
/** Within this time every other process has removed the folders of the sessions from its machine. */
const otherMachinesMs = 6_000
/** Time limit of one call. */
const workMs = 500
const blobRoots = ['files', 'skills', 'checkpoints']

export function createContentsRemoval({ databases, blobs, clock }: ContentsDeps) {
  /** The times, by tenant, since which this process knows that no session of the workspace runs. */
  const settled = new Map<string, number>()

  /** Interrupts a running session, and deletes any other. Returns true when the session is deleted. */
  async function endSession(database: Database, tenant: string, id: string, isLate: boolean) {
    return database.write(async (tx) => {
      const now = clock.now()
      const head = await getHeadForUpdate(tx, tenant, id)
      if (isRunning(head.status) && !isLate) {
        if ((await lastInterrupt(tx, tenant, id)) === undefined)
          await postEvents(tx, tenant, id, [{ type: 'user.interrupt' }], now)
        else notifyInterrupt(tx, id)
        return false
      }
      await sessionStore(tx).end(tenant, id, now)
      notifyRunners(tx, { tenant, session: id })
      return true
    })
  }

  /** Returns true when no session is left that runs, or with which a runner has work. */
  async function endSessions(database: Database, tenant: string, begunMs: number) {
    const isLate = clock.now() > begunMs + patienceMs
    const end = clock.now() + workMs
    for (;;) {
      const ids = await sessionStore(database.read).undeleted(tenant, sessionsAtOnce)
      if (ids.length === 0) return !(await sessionStore(database.read).areUnsettled(tenant))
      let deleted = 0
      for (const id of ids) if (await endSession(database, tenant, id, isLate)) deleted += 1
      if (deleted === 0 || clock.now() > end) return false
    }
  }

  async function removeRows(tenant: string): Promise<boolean> {
    const database = await databases.open(tenant)
    const sessions = await sessionStore(database.read).some(tenant, sessionsAtOnce)
    for (const session of sessions)
      await removeSessionRows(database, { tenant, session, now: clock.now() })
    return sessions.length === 0 && removeRowsAt(database, 'tenant', tenant)
  }

  async function removePart(tenant: string): Promise<boolean> {
    for (const root of blobRoots) if (!(await blobs.deleteBelow(`${root}/${tenant}/`))) return false
    if (databases.isShared) return removeRows(tenant)
    await databases.forget(tenant)
    return true
  }

  return {
    /**
     * Ends claims and sessions. True when no process works with any of them. `begunMs`: when this process made its
     * first call.
     */
    async settle(tenant: string, begunMs: number): Promise<boolean> {
      const database = await databases.open(tenant).catch(damaged)
      // No session runs in a database that cannot be opened or was never created. It can be removed all the same.
      if (!database) return true
      await removeWork(database, tenant)
      if (!(await endSessions(database, tenant, begunMs))) {
        settled.delete(tenant)
        return false
      }
      const now = clock.now()
      const since = settled.get(tenant) ?? now
      settled.set(tenant, since)
      if (database.dialect === 'postgres' && now < since + otherMachinesMs) return false
      settled.delete(tenant)
      return true
    },

    /** Removes blobs and rows, for at most `workMs`. Returns true when nothing is left. */
    async removeContents(tenant: string): Promise<boolean> {
      const end = clock.now() + workMs
      do if (await removePart(tenant)) return true
      while (clock.now() < end)
      return false
    },
  }
}

function damaged(error: unknown): undefined {
  if (!(error instanceof WorkspaceDatabaseError || error instanceof NoWorkspaceError)) throw error
}
