import { AsyncLocalStorage } from 'node:async_hooks'
import { StorageError } from '../core/errors.ts'
import type { Queries } from './database.ts'

type Job = {
  unit: (tx: Queries) => Promise<unknown>
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

/** Units that share one commit at most; bounds how long the event loop waits for a batch. */
const batchSize = 128

/** A unit that has held the event loop for so long is the last of its batch, whose commit waits for the next round. */
const longMs = 50

/** A unit that took so many milliseconds has written much. */
const heldMs = 10

/**
 * `held` is told how long large units and their commit held the event loop.
 *
 * Writers that wait at the same time share one commit: a transaction, a savepoint each. Units run one after the
 * other and promises settle after the commit, so that what was resolved is on disk.
 */
export function unitQueue(
  tx: Queries,
  exec: (statement: string) => void,
  { now = () => performance.now(), held = (_ms: number) => {} } = {},
) {
  const queue: Job[] = []
  const idle: (() => void)[] = []
  const within = new AsyncLocalStorage<Job>()
  let current: Job | undefined
  let running = false

  function write<T>(unit: (tx: Queries) => Promise<T>): Promise<T> {
    if (within.getStore())
      return Promise.reject(new Error('a unit writes through its own transaction alone'))
    return new Promise((resolve, reject) => {
      queue.push({ unit, resolve: resolve as (value: unknown) => void, reject })
      if (running) return
      running = true
      setImmediate(() => void work())
    })
  }

  async function work(): Promise<void> {
    while (queue.length > 0) {
      await commit(queue.splice(0, batchSize))
      // Let requests in between two batches.
      await nextRound()
    }
    running = false
    for (const resume of idle.splice(0)) resume()
  }

  async function commit(batch: Job[]): Promise<void> {
    const settle: (() => void)[] = []
    let heldFor = 0
    try {
      exec('begin immediate')
      for (const [index, job] of batch.entries()) {
        const began = now()
        settle.push(await attempt(job))
        const took = now() - began
        if (took >= heldMs) heldFor += took
        if (took < longMs) continue
        // It wrote megabytes, and takes as long again to be committed: nobody else waits for that.
        queue.unshift(...batch.splice(index + 1))
        await nextRound()
      }
      const began = now()
      exec('commit')
      if (heldFor > 0) held(heldFor + now() - began)
    } catch (error) {
      // The whole batch is gone: a full disk, or a lock held elsewhere.
      rollback()
      for (const job of batch) job.reject(error)
      return
    }
    for (const done of settle) done()
  }

  function rollback(): void {
    try {
      exec('rollback')
    } catch {
      // SQLite has rolled back by itself after some errors; then there is nothing left to undo.
    }
  }

  /** A disk that is full may have made SQLite undo the whole transaction: then it fails for that, for everybody. */
  function undo(error: unknown): void {
    try {
      exec('rollback to unit')
      exec('release unit')
    } catch (failure) {
      throw error instanceof StorageError ? error : failure
    }
  }

  async function attempt(job: Job): Promise<() => void> {
    exec('savepoint unit')
    current = job
    try {
      const value = await withinThisTick(within.run(job, () => job.unit(tx)))
      exec('release unit')
      return () => job.resolve(value)
    } catch (error) {
      undo(error)
      return () => job.reject(error)
    } finally {
      current = undefined
    }
  }

  /** Throws for a statement of a unit that was given up: it would land in another's transaction, or in none. */
  function check(): void {
    if (!current || within.getStore() !== current)
      throw new Error('a statement outside of its unit')
  }

  const drained = () =>
    running ? new Promise<void>((resolve) => void idle.push(resolve)) : Promise.resolve()

  return { write, check, drained }
}

const nextRound = () => new Promise((resolve) => setImmediate(resolve))

/** A unit that awaits anything but its own statements would hold the one writer for as long as that takes. */
function withinThisTick<T>(unit: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = setImmediate(() =>
      reject(new Error('a unit awaited something other than its own transaction')),
    )
    unit.then(resolve, reject).finally(() => clearImmediate(late))
  })
}
