/** Where work that a dead process may have left waits before it goes on. */
import type { Step, SessionLease } from './steps.ts'
import type { ThreadDeps, TurnSignals } from './turn-deps.ts'

type Work = Extract<Step, { kind: 'turn' | 'evaluation' }>

/** `hasWaited`: the session may be another than the step found, for example interrupted or lost. */
export type TakenUp = { progressed: () => void; hasWaited: boolean }

/** A suspect gives its slot away while it waits. */
export async function takeUp(
  { recoveries, steps, crew }: ThreadDeps,
  { tenant, thread }: SessionLease,
  { recovered }: Work,
  { slot, interrupt, stopping }: TurnSignals,
): Promise<TakenUp> {
  if (!recovered) return { progressed: () => {}, hasWaited: false }
  const interrupted = new AbortController()
  const { isSuspect } = recovered
  if (isSuspect) {
    interrupt(() => interrupted.abort(), thread)
    steps.publish()
    slot.leave()
  }
  const progressed = await recoveries.enter(
    { ...recovered, tenant },
    AbortSignal.any([interrupted.signal, stopping, crew.ending]),
  )
  await slot.hold(stopping)
  return { progressed, hasWaited: isSuspect && !stopping.aborted }
}
