import type { Bus } from '../../ground/bus/bus.ts'

const topic = 'evals'

/** Notifies processes that a run was created or canceled. Call it after the commit. */
export const notifyEvals = (bus: Bus): void => bus.publish(topic, {})

export const listenToEvals = (bus: Bus, listen: () => void): (() => void) =>
  bus.subscribe(topic, listen)
