/**
 * Work that a job finds and that this process then drives to its end, beside the runs of the job. Every process looks;
 * a lease or a transaction of `drive` decides which one does the work.
 */
import type { SlotLimits, WorkInSlots, WorkPiece } from './core/fairness/work-slots.ts'
import { createWorkSlots, startFound } from './core/fairness/work-slots.ts'
import type { Job } from './core/time/jobs.ts'
import { createNearestAlarm } from './core/time/nearest-alarm.ts'
import type { Database } from './database/database.ts'
import { runOnEach } from './database/database.ts'
import type { Ground } from './ground.ts'

/** When the job looks at a piece again, in ms since the epoch. `isLeftOut`: no look before then finds the piece. */
export type NextLook = { at: number; isLeftOut?: boolean }

export type DueWork<Piece extends WorkPiece> = Pick<Job, 'name' | 'everyMs'> & {
  slots: SlotLimits<Piece>
  /** The most pieces that one query finds; without it as many as there are slots. */
  mostFound?: number
  /** Ms that a piece rests after `drive` has thrown. */
  failedMs: number
  /** The line of the log after `drive` has thrown, and the name of its field for the piece's id. */
  failure: { message: string; field: string }
  /** Subscribes to the notices of new work. */
  listen: (lookNow: () => void) => () => void
  /** Called once for a database in each look, before its queries. */
  prepare?: (db: Database) => Promise<void>
  find: (db: Database, skipped: WorkInSlots, limit: number) => Promise<readonly Piece[]>
  /** Called within the look, so that what it does before its first await is done before the next query. */
  drive: (db: Database, piece: Piece, signal: AbortSignal) => Promise<NextLook | void>
  /** True: there is news for a piece that has just ended, so the job looks again. */
  hasNews?: (id: string) => boolean
}

export type DueWorkJob<Piece> = Required<Job> & {
  /** False while the piece runs or rests, or has no room. */
  isFree: (piece: Piece) => boolean
}

export function createDueWork<Piece extends WorkPiece>(
  { databases, clock, log }: Ground,
  work: DueWork<Piece>,
): DueWorkJob<Piece> {
  const { name, everyMs, slots, failedMs, failure, hasNews = () => false } = work
  const { mostFound = slots.total } = work
  let lookNow = (): void => {}
  const inSlots = createWorkSlots<Piece>(slots, ({ id }, isAwaited) => {
    if (isAwaited || hasNews(id)) lookNow()
  })
  const alarm = createNearestAlarm(clock, () => lookNow())

  async function driveOne(db: Database, piece: Piece, signal: AbortSignal): Promise<void> {
    let next: NextLook | void
    try {
      next = await work.drive(db, piece, signal)
    } catch (error) {
      log.error(failure.message, { error, [failure.field]: piece.id })
      next = { at: clock.now() + failedMs, isLeftOut: true }
    }
    if (!next) return
    if (next.isLeftOut) inSlots.restUntil(piece.id, next.at)
    alarm.set(next.at, signal)
  }

  async function look(db: Database, signal: AbortSignal): Promise<true> {
    await work.prepare?.(db)
    await startFound(
      mostFound,
      () => work.find(db, inSlots.skipped(clock.now()), mostFound),
      (each) => !signal.aborted && inSlots.start(each, () => driveOne(db, each, signal)),
    )
    return true
  }

  return {
    name,
    everyMs,
    isFree: (piece) => inSlots.isFree(piece, clock.now()),
    run: (signal) => runOnEach(databases.due(), (db) => look(db, signal)),
    start(runNow) {
      lookNow = runNow
      const unsubscribe = work.listen(runNow)
      return async () => {
        unsubscribe()
        alarm.stop()
        await inSlots.end()
      }
    },
  }
}
