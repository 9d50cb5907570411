/** Whether this process can do its work now, part by part. */
import type { Bus } from '../bus/bus.ts'
import { StorageError } from '../core/errors.ts'
import type { Clock } from '@steward/base/time.ts'
import { iso } from '@steward/base/time.ts'
import type { Database, Databases } from '../database/database.ts'
import { settingStore } from './store.ts'

/** `slow`: there is no answer yet. */
export type PartState = 'ok' | 'away' | 'full' | 'slow' | 'failing'
export type Readiness = { database: PartState; notifications: PartState }

/** How long the database may take. */
const patienceMs = 2_000
/** Anybody may ask: within this time all get the same answer. */
const cachedMs = 1_000

type ReadinessDeps = { databases: Databases; bus: Bus; clock: Clock }

export function readiness({ databases, bus, clock }: ReadinessDeps): () => Promise<Readiness> {
  let last: { at: number; answer: Promise<Readiness> } | undefined
  /** Written to, as a disk that is full is still read from. */
  const probe = (database: Database) =>
    database
      .write((tx) => settingStore(tx).put('ready', iso(clock.now())))
      .then((): PartState => 'ok', stateAfter)

  async function look(): Promise<Readiness> {
    const answered = new AbortController()
    const late = clock.sleep(patienceMs, answered.signal).then((): PartState => 'slow')
    const database = await Promise.race([probe(databases.control), late])
    answered.abort()
    return { database, notifications: bus.isOpen() ? 'ok' : 'away' }
  }

  return () => {
    const at = clock.now()
    if (!last || at - last.at >= cachedMs) last = { at, answer: look() }
    return last.answer
  }
}

const stateAfter = (error: unknown): PartState =>
  error instanceof StorageError ? error.reason : 'failing'
