/** The state of each part that this process needs for its work. */
import type { Bus } from '../bus/bus.ts'
import { StorageError } from '../core/errors.ts'
import type { Clock } from '@steward/base/time.ts'
import { iso } from '@steward/base/time.ts'
import type { Database, Databases } from '../database/database.ts'
import { settingStore } from './store.ts'

/** `slow`: the part has not answered in time. */
export type PartState = 'ok' | 'away' | 'full' | 'slow' | 'failing'
export type Readiness = { database: PartState; notifications: PartState }

/** Milliseconds for an answer of the database. */
const patienceMs = 2_000
/** Milliseconds for which an answer is cached, because anyone may call. */
const cachedMs = 1_000

type ReadinessDeps = { databases: Databases; bus: Bus; clock: Clock }

export function readiness({ databases, bus, clock }: ReadinessDeps): () => Promise<Readiness> {
  let last: { at: number; answer: Promise<Readiness> } | undefined
  /** Writes a row, because a full disk can still be read. */
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
