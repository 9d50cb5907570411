/** Records which workers have polled lately, for many workers in one statement. */
import type { Clock } from '@steward/base/time.ts'
import { throwFailures } from '../../ground/core/failures.ts'
import type { Databases } from '../../ground/database/database.ts'
import type { PollerRow } from './store.ts'
import { workStore } from './store.ts'

/** A worker's row is written at most this often. */
const knownMs = 10_000
const pauseMs = 1_000
const mostKnown = 10_000
/** Longest name of a worker; workers choose their names. */
const longestName = 128

/** Undefined for a worker without a name. */
export const workerName = (given: string | undefined): string | undefined =>
  given ? given.slice(0, longestName) : undefined

export function createPollRecorder(databases: Databases, clock: Clock) {
  const known = new Map<string, number>()
  let unwritten = new Map<string, Map<string, PollerRow>>()
  let written = 0

  /** Rows that are not written come again with the next polls of their workers. */
  async function write(tenant: string, workers: ReadonlyMap<string, PollerRow>): Promise<void> {
    try {
      const database = await databases.open(tenant)
      await database.write((tx) => workStore(tx).seen(tenant, [...workers.values()]))
    } catch (error) {
      for (const key of workers.keys()) known.delete(key)
      throw error
    }
  }

  return async (tenant: string, environment: string, worker: string): Promise<void> => {
    const key = `${environment}/${worker}`
    const now = clock.now()
    if ((known.get(key) ?? 0) <= now - knownMs) {
      if (known.size >= mostKnown) known.clear()
      known.set(key, now)
      const own = unwritten.get(tenant) ?? new Map<string, PollerRow>()
      unwritten.set(tenant, own)
      own.set(key, { environment_id: environment, worker_id: worker, seen_ms: now })
    }
    if (unwritten.size === 0 || written > now - pauseMs) return
    const batches = unwritten
    unwritten = new Map()
    written = now
    const failures: unknown[] = []
    for (const [of, workers] of batches)
      await write(of, workers).catch((error: unknown) => {
        // The database of another workspace is of no concern to this worker.
        if (of === tenant) failures.push(error)
      })
    throwFailures(failures)
  }
}
