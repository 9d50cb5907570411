/** Pieces of work that a job finds, and that this process then drives to their end. */
import { createNearestAlarm } from '../time/nearest-alarm.ts'
import type { WorkInSlots, WorkPiece } from './work-slots.ts'
import { createWorkSlots, startFound } from './work-slots.ts'
import type { Clock } from '@steward/base/time.ts'

/** Concurrent pieces of a process, and the percentage of them that one tenant may have while the others have none. */
const slots = { total: 50, percent: 50 }
/** The wait before a process drives a piece again that could not go on. */
const failedMs = 10_000

/** `drive` may throw: then the piece rests, and the job looks again when its rest is over. */
type DrivenPieces<Piece> = {
  find: (skipped: WorkInSlots, limit: number) => Promise<readonly Piece[]>
  drive: (piece: Piece) => Promise<void>
}

/** `failed` is told why a piece could not go on. */
export function createDrivenWork<Piece extends WorkPiece>(
  clock: Clock,
  failed: (error: unknown, id: string) => void,
) {
  let lookNow = (): void => {}
  const work = createWorkSlots<Piece>(slots, (_, isAwaited) => {
    if (isAwaited) lookNow()
  })
  const alarm = createNearestAlarm(clock, () => lookNow())

  async function driveOrRest(id: string, drive: () => Promise<void>, signal: AbortSignal) {
    try {
      await drive()
    } catch (error) {
      failed(error, id)
      const at = clock.now() + failedMs
      work.restUntil(id, at)
      alarm.set(at, signal)
    }
  }

  return {
    startAll: ({ find, drive }: DrivenPieces<Piece>, signal: AbortSignal): Promise<void> =>
      startFound(
        slots.total,
        () => find(work.skipped(clock.now()), slots.total),
        (each) =>
          !signal.aborted &&
          work.start(each, () => driveOrRest(each.id, () => drive(each), signal)),
      ),

    /** The `start` of the job. `listen` subscribes the job to notifications. */
    start(runNow: () => void, listen: (runNow: () => void) => () => void) {
      lookNow = runNow
      const unsubscribe = listen(runNow)
      return async (): Promise<void> => {
        unsubscribe()
        alarm.stop()
        await work.end()
      }
    },
  }
}
