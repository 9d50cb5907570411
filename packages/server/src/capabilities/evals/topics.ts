import type { Bus } from '../../ground/bus/bus.ts'

const topic = 'evals'

/** A run was created, or is to be canceled. Call it after the commit. */
export const notifyEvals = (bus: Bus): void => bus.publish(topic, {})

export const listenToEvals = (bus: Bus, listen: () => void): (() => void) =>
  bus.subscribe(topic, listen)
