/** The state of each part that this process needs for its work. */
import type { BlobStoreMark } from '../blobs/blob-store-mark.ts'
import type { Bus } from '../bus/bus.ts'
import { StorageError } from '../core/errors.ts'
import { runTogether } from '@steward/base/shared-runs.ts'
import type { Clock } from '@steward/base/time.ts'
import { iso } from '@steward/base/time.ts'
import type { Database, Databases } from '../database/database.ts'
import { settingStore } from '../database/setting-store.ts'

/** `slow`: the part has not answered in time. */
export type PartState = 'ok' | 'away' | 'full' | 'slow' | 'failing'
export type Readiness = { database: PartState; notifications: PartState; blobs: PartState }

/** Milliseconds for an answer of the database and of the blob store. */
const patienceMs = 2_000
/** Milliseconds for which an answer is cached, because anyone may call. */
const cachedMs = 1_000

type ReadinessDeps = {
  databases: Databases
  bus: Bus
  clock: Clock
  blobStore: BlobStoreMark
}

export function createReadinessCheck({
  databases,
  bus,
  clock,
  blobStore,
}: ReadinessDeps): () => Promise<Readiness> {
  let last: { at: number; answer: Promise<Readiness> } | undefined
  /** Writes a row, because a full disk can still be read. */
  const probe = (database: Database) =>
    database
      .write((tx) => settingStore(tx).put('ready', iso(clock.now())))
      .then((): PartState => 'ok', stateAfter)

  // A part that hangs is not asked again before it has answered: each question may hold a connection.
  const askDatabase = runTogether(() => probe(databases.control))
  const askBlobs = runTogether(() =>
    blobStore.isThere().then((isThere): PartState => (isThere ? 'ok' : 'away'), stateAfter),
  )

  async function look(): Promise<Readiness> {
    const answered = new AbortController()
    const late = clock.sleep(patienceMs, answered.signal).then((): PartState => 'slow')
    const inTime = (state: Promise<PartState>) => Promise.race([state, late])
    const [database, blobs] = await Promise.all([inTime(askDatabase()), inTime(askBlobs())])
    answered.abort()
    return { database, notifications: bus.isOpen() ? 'ok' : 'away', blobs }
  }

  return () => {
    const at = clock.now()
    if (!last || at - last.at >= cachedMs) last = { at, answer: look() }
    return last.answer
  }
}

const stateAfter = (error: unknown): PartState =>
  error instanceof StorageError ? error.reason : 'failing'
