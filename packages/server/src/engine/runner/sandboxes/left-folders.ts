/**
 * Removes folders of deleted sessions from this machine. The process that claims a deletion removes only the folder on
 * its own machine; this job removes the folders of other machines.
 */
import type { Dir } from 'node:fs'
import { opendir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { collectFailure, throwFailures } from '../../../ground/core/failures.ts'
import type { Job } from '../../../ground/core/time/jobs.ts'
import type { Ground } from '../../../ground/ground.ts'
import { sessionStore } from '../../../sessions/rows/sessions.ts'

const everyMs = 10 * 60_000
const atOnce = 100
/**
 * A folder without a session row stays until it was unused for this time. The session may have been deleted while this
 * machine was away, or the server was started on another database by mistake, which has no rows either.
 */
const unknownMs = 7 * 24 * 60 * 60_000

const named = /^sesn_\w+$/

export type LeftFoldersDeps = Ground & {
  /** The parent of all session folders on this machine. */
  folder: string
  /** Ends the session's sandbox on this machine and removes its folder. */
  remove: (session: string) => Promise<void>
}

export const leftFolderJob = (deps: LeftFoldersDeps): Job => ({
  name: 'remove folders of deleted sessions',
  everyMs,
  run: leftFolders(deps),
})

/**
 * A run looks at `atOnce` names of the folder and continues where the previous run ended. True at the end of the
 * folder.
 */
export function leftFolders({ folder, databases, remove, clock }: LeftFoldersDeps) {
  let reading: Dir | undefined

  /** True for sessions that are deleted, by id; `failures`: of databases that cannot be read. */
  async function readDeletions(sessions: readonly string[]) {
    const known = new Map<string, boolean>()
    const failures: unknown[] = []
    for (const { read } of await databases.every())
      await collectFailure(failures, async () => {
        for (const { id, deleted_at } of await sessionStore(read).ofAnyTenant(sessions))
          known.set(id, deleted_at !== null)
      })
    return { known, failures }
  }

  async function isLeft(session: string, isDeleted: boolean | undefined): Promise<boolean> {
    if (isDeleted !== undefined) return isDeleted
    const found = await stat(join(folder, session)).catch(() => undefined)
    return found !== undefined && found.mtimeMs < clock.now() - unknownMs
  }

  return async (): Promise<boolean> => {
    reading ??= await opendir(folder).catch(absent)
    const names = await nextNames(reading)
    if (names.length < atOnce) reading = undefined
    const sessions = names.filter((name) => named.test(name))
    if (sessions.length > 0) {
      const { known, failures } = await readDeletions(sessions)
      for (const session of sessions) {
        const isDeleted = known.get(session)
        // A database that cannot be read may hold the row.
        if (isDeleted === undefined && failures.length > 0) continue
        if (await isLeft(session, isDeleted)) await remove(session)
      }
      throwFailures(failures)
    }
    return reading === undefined
  }
}

/** Returns fewer names than asked for at the end of the folder, and closes it. */
async function nextNames(reading: Dir | undefined): Promise<string[]> {
  const names: string[] = []
  while (reading && names.length < atOnce) {
    const entry = await reading.read()
    if (entry === null) {
      await reading.close()
      break
    }
    names.push(entry.name)
  }
  return names
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
