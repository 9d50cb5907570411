import type { Bus } from '../../ground/bus/bus.ts'
import type { Notifying } from '../../ground/core/notice.ts'

const topic = 'dreams'

/** Notifies processes that a dream was created or canceled. */
export const notifyDreams = (tx: Notifying): void => tx.afterCommit({ topic, message: {} })

export const listenToDreams = (bus: Bus, listen: () => void): (() => void) =>
  bus.subscribe(topic, listen)
