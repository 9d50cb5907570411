/** Where work that a dead process may have left waits before it goes on. */
import type { RecoveredTurn } from './deaths.ts'
import type { RecoveryLane } from './recovery-lane.ts'
import type { TurnSignals } from './turn-deps.ts'

/** A suspect gives its slot away while it waits. */
export async function takeUp(
  recoveries: RecoveryLane,
  thread: string | undefined,
  { recovered }: { recovered?: RecoveredTurn },
  { place, interrupt, stopping }: TurnSignals,
): Promise<() => void> {
  if (!recovered) return () => {}
  const interrupted = new AbortController()
  interrupt(() => interrupted.abort(), thread)
  if (recovered.isSuspect) place.leave()
  const progressed = await recoveries.enter(
    recovered,
    AbortSignal.any([interrupted.signal, stopping]),
  )
  await place.hold(stopping)
  return progressed
}
