/** Records what a session waits for in the process that runs it, so that every process can show it. */
import type { Queries } from '../../ground/database/database.ts'
import type { Tables } from '../../ground/database/tables.ts'
import type { Ground } from '../../ground/ground.ts'
import { announceRowChange } from '../../sessions/log/topics.ts'
import { waitStore } from '../../sessions/rows/waits.ts'

type ProcessWaitType = Tables['session_waits']['type']

type WaitingLease = { tenant: string; session: string; generation: number }

/** Returns what `waited` resolves to. A wait that cannot be recorded delays and fails nothing. */
export type ProcessWaits = <T>(
  lease: WaitingLease,
  type: ProcessWaitType,
  waited: Promise<T>,
) => Promise<T>

/** A shorter wait is never written, so that usual turns cost nothing. */
const shownAfterMs = 250

export function processWaits(deps: Ground): ProcessWaits {
  const { databases, clock, log } = deps
  return async (lease, type, waited) => {
    const { tenant, session } = lease
    const since_ms = clock.now()
    const row = { tenant_id: tenant, session_id: session, type, generation: lease.generation }
    const done = new AbortController()
    const write = async (unit: (tx: Queries) => Promise<void>) => {
      const database = await databases.open(tenant)
      await database.write(async (tx) => {
        await unit(tx)
        announceRowChange(tx, tenant, session)
      })
    }
    const failed = (error: unknown) =>
      log.warn('a wait of a session was not recorded', { error, session_id: session })
    const begin = async () => {
      await clock.sleep(shownAfterMs, done.signal)
      if (done.signal.aborted) return false
      await write((tx) => waitStore(tx).put({ ...row, since_ms }))
      return true
    }
    const isWritten = begin().catch(failed)
    const end = async () => {
      if (await isWritten) await write((tx) => waitStore(tx).end(row))
    }
    try {
      return await waited
    } finally {
      done.abort()
      end().catch(failed)
    }
  }
}
