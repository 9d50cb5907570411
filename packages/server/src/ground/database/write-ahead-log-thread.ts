/** The thread that copies the write-ahead log into the database; see `logCheckpoints`. */
import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import type { CheckpointReply, CheckpointStep, LogFrames } from './write-ahead-log.ts'

/** SQLite's codes for a failed sync of a file, and of its folder. */
const failedSyncs = new Set([1034, 1290])

const db = new DatabaseSync(String(workerData))
db.exec('pragma synchronous = full; pragma wal_autocheckpoint = 0; pragma busy_timeout = 0')
const copy = db.prepare('pragma wal_checkpoint(passive)')

const codeOf = (error: unknown): number =>
  error instanceof Error && 'errcode' in error ? Number(error.errcode) : 0

function step(name: CheckpointStep): CheckpointReply {
  try {
    let frames = copy.get() as LogFrames
    if (name === 'restart' && frames.log === frames.checkpointed) {
      // A write without a change, which begins the new log.
      db.exec('pragma user_version = 0')
      frames = db.prepare('pragma wal_checkpoint(noop)').get() as LogFrames
    }
    return { log: frames.log, checkpointed: frames.checkpointed }
  } catch (error) {
    const code = codeOf(error)
    // The next checkpoint meets a full disk, or a lock of another process, again.
    const none = { log: 0, checkpointed: 0 }
    return failedSyncs.has(code) ? { ...none, failedSync: String(error) } : none
  }
}

parentPort?.on('message', (name: CheckpointStep) => parentPort?.postMessage(step(name)))
