import { AsyncLocalStorage } from 'node:async_hooks'
import { StorageError } from '../core/errors.ts'
import type { Queries } from './database.ts'

type QueuedUnit = {
  unit: (tx: Queries) => Promise<unknown>
  /** Runs in the context of who asked for the unit: the queue is driven by whoever came first. */
  inContext: <T>(run: () => T) => T
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

/** Most units of one commit. Bounds how long a batch holds the event loop. */
const batchSize = 128

/** A unit that held the event loop for so long ends its batch, whose commit waits for the next round. */
const longMs = 50

/** A unit that took so many milliseconds counts towards the hold of the event loop. */
const heldMs = 10

export type UnitStep =
  | 'begin immediate'
  | 'commit'
  | 'rollback'
  | 'savepoint unit'
  | 'release unit'
  | 'rollback to unit'

type UnitQueueOptions = {
  now?: () => number
  /** Called with the milliseconds for which large units and their commit held the event loop. */
  addHeldMs?: (ms: number) => void
  /** Throws when writes are refused. A batch begins after the returned promise. */
  beforeBatch?: () => Promise<void> | undefined
  /** Resolves when the commit is on disk. Undefined: it already is. */
  onDisk?: () => Promise<void> | undefined
}

/**
 * Units that wait at the same time share one transaction, with a savepoint each, and one commit. Units run one after
 * the other. All promises settle when the commit is on disk, rejections too, because a refusal may depend on the writes
 * of an earlier unit. The next batch runs in the meantime.
 */
export function unitQueue(
  tx: Queries,
  exec: RunStep,
  {
    now = () => performance.now(),
    addHeldMs: held = () => {},
    beforeBatch = () => undefined,
    onDisk = () => undefined,
  }: UnitQueueOptions = {},
) {
  const queue: QueuedUnit[] = []
  const idle: (() => void)[] = []
  const transaction = transactionOfUnits(tx, exec)
  let running = false
  /** Number of batches that are committed and not yet on disk. */
  let unsettled = 0

  function write<T>(unit: (tx: Queries) => Promise<T>): Promise<T> {
    if (transaction.isWithin())
      return Promise.reject(new Error('a unit writes through its own transaction alone'))
    return new Promise((resolve, reject) => {
      const inContext = AsyncLocalStorage.snapshot()
      queue.push({ unit, inContext, resolve: resolve as (value: unknown) => void, reject })
      if (running) return
      running = true
      setImmediate(() => void work())
    })
  }

  async function work(): Promise<void> {
    while (queue.length > 0) {
      await commit(queue.splice(0, batchSize))
      // Serves requests between two batches.
      await nextRound()
    }
    running = false
    resumeIdle()
  }

  function resumeIdle(): void {
    if (!running && unsettled === 0) for (const resume of idle.splice(0)) resume()
  }

  async function commit(batch: QueuedUnit[]): Promise<void> {
    const settle: (() => void)[] = []
    let heldFor = 0
    try {
      await beforeBatch()
      transaction.begin()
      // A single unit needs no savepoint: its rollback undoes no other unit.
      const run = batch.length === 1 ? transaction.attemptAlone : transaction.attempt
      for (const [index, job] of batch.entries()) {
        const began = now()
        settle.push(await run(job))
        const took = now() - began
        if (took >= heldMs) heldFor += took
        if (took < longMs) continue
        // The unit wrote megabytes, and its commit takes as long again: other units go to the next batch.
        queue.unshift(...batch.splice(index + 1))
        await nextRound()
      }
      const began = now()
      transaction.commit()
      if (heldFor > 0) held(heldFor + now() - began)
    } catch (error) {
      // The whole batch is undone: the disk is full, or another process holds the lock.
      transaction.rollback()
      for (const job of batch) job.reject(error)
      return
    }
    const kept = onDisk()
    if (kept) void settleAfter(kept, batch, settle)
    else for (const done of settle) done()
  }

  async function settleAfter(kept: Promise<void>, batch: QueuedUnit[], settle: (() => void)[]) {
    unsettled++
    try {
      await kept
      for (const done of settle) done()
    } catch (error) {
      for (const job of batch) job.reject(error)
    }
    unsettled--
    resumeIdle()
  }

  const drained = () =>
    running || unsettled > 0
      ? new Promise<void>((resolve) => void idle.push(resolve))
      : Promise.resolve()

  return { write, check: transaction.check, drained }
}

type RunStep = (step: UnitStep) => void

/** Runs transactions one after the other, and the units within each. */
function transactionOfUnits(tx: Queries, exec: RunStep) {
  const within = new AsyncLocalStorage<QueuedUnit>()
  let current: QueuedUnit | undefined
  let isOpen = false

  function begin(): void {
    exec('begin immediate')
    isOpen = true
  }

  /** Does nothing when the only unit was rolled back. */
  function commit(): void {
    if (isOpen) exec('commit')
  }

  function rollback(): void {
    isOpen = false
    try {
      exec('rollback')
    } catch {
      // After some errors SQLite has rolled back by itself, and nothing is left to undo.
    }
  }

  /** Undoes one unit. On a full disk SQLite may have undone the whole transaction: then all its units fail. */
  function undo(error: unknown): void {
    try {
      exec('rollback to unit')
      exec('release unit')
    } catch (failure) {
      throw error instanceof StorageError ? error : failure
    }
  }

  async function attempt(job: QueuedUnit): Promise<() => void> {
    exec('savepoint unit')
    try {
      const value = await valueOf(job)
      exec('release unit')
      return () => job.resolve(value)
    } catch (error) {
      undo(error)
      return () => job.reject(error)
    }
  }

  async function attemptAlone(job: QueuedUnit): Promise<() => void> {
    try {
      const value = await valueOf(job)
      return () => job.resolve(value)
    } catch (error) {
      rollback()
      return () => job.reject(error)
    }
  }

  async function valueOf(job: QueuedUnit): Promise<unknown> {
    current = job
    try {
      return await withinThisTick(job.inContext(() => within.run(job, () => job.unit(tx))))
    } finally {
      current = undefined
    }
  }

  /** Throws for a statement of an abandoned unit, which would run in another unit's transaction or in none. */
  function check(): void {
    if (!current || within.getStore() !== current)
      throw new Error('a statement outside of its unit')
  }

  const isWithin = () => within.getStore() !== undefined

  return { begin, commit, rollback, attempt, attemptAlone, check, isWithin }
}

const nextRound = () => new Promise((resolve) => setImmediate(resolve))

/** Rejects a unit that awaits anything but its own statements, because it would hold the single writer. */
function withinThisTick<T>(unit: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = setImmediate(() =>
      reject(new Error('a unit awaited something other than its own transaction')),
    )
    unit.then(resolve, reject).finally(() => clearImmediate(late))
  })
}
