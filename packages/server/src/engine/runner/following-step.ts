/** Steps of a session in the order of the event loop. */
import { eventLoop } from '../../ground/core/event-loop.ts'
import type { SessionLease, Step } from './steps.ts'
import { nextStep } from './steps.ts'
import type { ThreadDeps, TurnSignals } from './turn-deps.ts'

/** The next step of a session that this process has claimed before. */
export async function followingStep(
  deps: ThreadDeps,
  place: SessionLease,
  signals: TurnSignals,
  hasWaited: boolean,
): Promise<Step> {
  const { steps, clock } = deps
  const moment = { claimed: false, hasWaited }
  const next = await steps.database.write((tx) =>
    nextStep(tx, place, { ...moment, now: clock.now() }),
  )
  return inLoopOrder(deps, place, next, signals, moment)
}

/**
 * Repeats a large step in its turn of the event loop. Returns the step unchanged when the server stops while it waits.
 */
export async function inLoopOrder(
  { steps, clock }: ThreadDeps,
  place: SessionLease,
  step: Step,
  { stopping }: TurnSignals,
  moment: { claimed: boolean; hasWaited?: boolean },
): Promise<Step> {
  if (step.kind !== 'heavy') return step
  await eventLoop.wait(place.tenant, 'write')
  if (stopping.aborted) return step
  return steps.database.write((tx) =>
    nextStep(tx, place, { ...moment, now: clock.now(), mostBytes: Infinity }),
  )
}
