/**
 * The write-ahead log of a SQLite database. SQLite writes it without sync, and this file syncs it off the event loop;
 * docs/decisions/0021-commits-synced-off-the-loop.md has the reasons.
 */
import { closeSync, fdatasync, fsyncSync, openSync, readSync, writeSync } from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import type { Clock } from '@steward/base/time.ts'
import { systemClock } from '@steward/base/time.ts'
import { StorageError } from '../core/errors.ts'

/** Resolves when all writes to the file before the call are on disk. */
export type SyncFile = (descriptor: number) => Promise<void>
export const syncFile: SyncFile = promisify(fdatasync)

/** Pages of the log that start a checkpoint: the log is copied into the database and begins anew. */
const longLog = 1_000

/** Number of syncs between two checks of the log's length. */
const looked = 16

/** The thread ends after so long without a checkpoint, because it takes 4 MB. The next checkpoint starts it again. */
const idleThreadMs = 30_000

/** Frames in the log, and frames that are copied into the database. */
export type LogFrames = { log: number; checkpointed: number }

/** `copy`: copies frames while units write. `restart`: begins the log anew, while no unit writes. */
export type CheckpointStep = 'copy' | 'restart'
export type CheckpointReply = LogFrames & { failedSync?: string }

type SyncRound = PromiseWithResolvers<void>

function newRound(): SyncRound {
  const round = Promise.withResolvers<void>()
  // A rejection without waiters must not count as unhandled. Waiters still get it.
  round.promise.catch(() => {})
  return round
}

/**
 * Counts commits and knows which are on disk. One sync covers all commits before its start, and commits go on during
 * it. On disk the log is a prefix of the writes, so that no commit survives without the commits before it.
 *
 * After a failed sync, later syncs prove nothing: Linux marks the pages that it could not write as written. So all
 * further writes are refused until another process opens the database and writes the log anew; see `writeLogAgain`.
 */
export function commitSyncs(sync: () => Promise<void>, afterSync: () => void = () => {}) {
  let [written, synced, underWay] = [0, 0, 0]
  let isRunning = false
  let current = newRound()
  let next = newRound()
  let failure: Error | undefined

  async function run(): Promise<void> {
    isRunning = true
    while (synced < written && !failure) {
      underWay = written
      current = next
      next = newRound()
      try {
        await sync()
      } catch (error) {
        fail(error as Error)
      }
      // The checkpoint thread may have failed during the sync.
      if (failure) break
      synced = underWay
      current.resolve()
      afterSync()
    }
    isRunning = false
  }

  function fail(error: Error): void {
    if (failure) return
    failure = error
    current.reject(error)
    next.reject(error)
  }

  return {
    /** Call it when a commit was written. */
    wrote(): void {
      written++
      if (!isRunning) void run()
    },
    /** Resolves when all commits so far are on disk. Undefined: they are. Rejects after a failed sync. */
    pending(): Promise<void> | undefined {
      if (failure) return Promise.reject(failure)
      if (synced === written) return undefined
      return underWay === written ? current.promise : next.promise
    },
    /** Throws after a failed sync. */
    check(): void {
      if (failure) throw new StorageError('away', failure)
    },
    fail,
  }
}

/**
 * Writes the bytes of a log again and syncs them. The process before may have ended without a sync of its last commits,
 * or after a failed sync: then Linux takes the pages for written, and a sync alone would not write them. No other
 * process may write to the log in the meantime.
 */
export function writeLogAgain(path: string): void {
  const file = openSync(`${path}-wal`, 'r+')
  try {
    const piece = Buffer.alloc(1024 * 1024)
    for (let at = 0; ;) {
      const bytes = readSync(file, piece, 0, piece.length, at)
      if (bytes === 0) break
      for (let done = 0; done < bytes;)
        done += writeSync(file, piece, done, bytes - done, at + done)
      at += bytes
    }
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/**
 * Checkpoints the log in a thread of its own, so that no sync holds the event loop: copies it into the database and
 * begins it anew. SQLite begins a log with a sync of its head; the thread does this too, while units wait.
 */
export function logCheckpoints(
  path: string,
  frames: () => LogFrames,
  failed: (error: Error) => void,
  clock: Clock = systemClock,
): LogCheckpoints {
  let due = longLog
  let syncs = 0
  let thread: Worker | undefined
  let running: Promise<void> | undefined
  let restarting: Promise<void> | undefined
  let idle = new AbortController()
  let ending: Promise<unknown> | undefined
  let isClosed = false

  function open(): Worker {
    // Without the cache of the process, the thread would load the compiler of TypeScript: 8 MB, and 50 ms of a core.
    const cache = getCompileCacheDir()
    const worker = new Worker(new URL('./write-ahead-log-thread.ts', import.meta.url), {
      workerData: path,
      env: cache === undefined ? {} : { NODE_COMPILE_CACHE: dirname(cache) },
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 4 },
    })
    worker.unref()
    return worker
  }

  /** Starts a new thread when the last one has ended. */
  async function ask(step: CheckpointStep): Promise<LogFrames | undefined> {
    const asked = (thread ??= open())
    const reply = await new Promise<CheckpointReply | undefined>((resolve) => {
      const end = () => {
        // Both `error` and `exit` come; by the second, the next thread may run already.
        if (thread === asked) thread = undefined
        resolve(undefined)
      }
      asked.once('error', end).once('exit', end)
      asked.once('message', (answer: CheckpointReply) => {
        asked.off('error', end).off('exit', end)
        resolve(answer)
      })
      asked.postMessage(step)
    })
    if (reply?.failedSync !== undefined) failed(new Error(reply.failedSync))
    return reply
  }

  async function endIdleThread({ signal }: AbortController): Promise<void> {
    await clock.sleep(idleThreadMs, signal)
    if (signal.aborted) return
    ending = thread?.terminate()
    thread = undefined
  }

  async function run(): Promise<void> {
    idle.abort()
    await ask('copy')
    const steps = ask('restart')
    restarting = steps.then(() => {})
    const left = await steps
    restarting = undefined
    // A long reader, such as a backup, keeps the log from beginning anew.
    due = (left?.log ?? frames().log) + longLog
    running = undefined
    if (isClosed) return
    idle = new AbortController()
    void endIdleThread(idle)
  }

  return {
    look() {
      if (++syncs % looked !== 0) return
      if (!running && !isClosed && frames().log >= due) running = run()
    },
    restarting: () => restarting,
    async close() {
      isClosed = true
      idle.abort()
      await running
      await ending
      await thread?.terminate()
    },
  }
}

export type LogCheckpoints = {
  /** Call it after each sync. Starts a checkpoint when the log is long. */
  look(): void
  /** Resolves when commits may go on after a restart of the log. Undefined: no restart runs. */
  restarting(): Promise<void> | undefined
  close(): Promise<void>
}
