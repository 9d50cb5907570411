/**
 * The write-ahead log of an embedded database: SQLite writes it without sync, and it is synced here, off the event loop.
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

/** Resolves when everything is on disk that was written to the file before the call. */
export type SyncFile = (descriptor: number) => Promise<void>
export const syncFile: SyncFile = promisify(fdatasync)

/** The log is copied into the database and begun anew when it has so many pages. */
const longLog = 1_000

/** The length of the log is looked at once in so many syncs. */
const looked = 16

/** The thread takes 4 MB. It ends when no checkpoint was due for so long, and begins again with the next one. */
const idleThreadMs = 30_000

/** Of the log and of what is copied. */
export type LogFrames = { log: number; checkpointed: number }

/** `copy` is done beside writers. `restart` begins the log anew, while nothing is written. */
export type CheckpointStep = 'copy' | 'restart'
export type CheckpointReply = LogFrames & { failedSync?: string }

type SyncRound = PromiseWithResolvers<void>

function newRound(): SyncRound {
  const round = Promise.withResolvers<void>()
  // Nobody may wait for it; those who wait are told.
  round.promise.catch(() => {})
  return round
}

/**
 * Numbers commits, and tells when they are on disk. One sync covers all commits before its beginning. Commits go on
 * beside it: the log is a prefix of what was written, so that no commit is kept without those before it.
 *
 * After a sync that failed, later ones prove nothing: Linux takes the pages that it could not write for written. So all
 * that comes is refused until another process opens the database, which writes the log anew; see `writeLogAgain`.
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
      // The thread of the checkpoints may have failed meanwhile.
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
    /** Says that a commit was written. */
    wrote(): void {
      written++
      if (!isRunning) void run()
    },
    /** What to wait for until all commits so far are on disk; undefined where they are. Rejects where a sync failed. */
    pending(): Promise<void> | undefined {
      if (failure) return Promise.reject(failure)
      if (synced === written) return undefined
      return underWay === written ? current.promise : next.promise
    },
    /** Throws after a sync that failed. */
    check(): void {
      if (failure) throw new StorageError('away', failure)
    },
    fail,
  }
}

/**
 * Writes a log anew with what it holds, and syncs it. The process before this one may have ended without the sync of its
 * last commits, or because a sync failed: then its pages look written, and no sync would write them. Meanwhile no other
 * process may write to the log.
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
 * Copies the log into the database in a thread of its own, so that no sync of it holds the event loop, and begins the log
 * anew. SQLite begins it with a sync of its head: the thread does this too, in the moment in which units wait.
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

  /** The next step is taken in a new thread where this one has ended. */
  async function ask(step: CheckpointStep): Promise<LogFrames | undefined> {
    const asked = (thread ??= open())
    const reply = await new Promise<CheckpointReply | undefined>((resolve) => {
      const end = () => {
        // It ends twice, with its error and its exit: the next one may be there already.
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
    // Who reads for long, such as a backup, keeps the log from its new beginning.
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
  /** Is called after each sync, and begins a checkpoint where the log is long. */
  look(): void
  /** What a commit has to wait for; mostly nothing. */
  restarting(): Promise<void> | undefined
  close(): Promise<void>
}
