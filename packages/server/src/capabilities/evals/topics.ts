import type { Bus } from '../../ground/bus/bus.ts'
import type { Notifying } from '../../ground/core/notice.ts'

const topic = 'evals'

/** Notifies processes that a run was created or canceled. */
export const notifyEvals = (tx: Notifying): void => tx.afterCommit({ topic, message: {} })

export const listenToEvals = (bus: Bus, listen: () => void): (() => void) =>
  bus.subscribe(topic, listen)
