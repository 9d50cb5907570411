import type { Bus } from '../../ground/bus/bus.ts'
import type { Notifying } from '../../ground/core/notice.ts'

const topic = 'schedules'

/** Notifies schedulers that a schedule may be due earlier than known ones. */
export const notifySchedules = (tx: Notifying): void => tx.afterCommit({ topic, message: {} })

export const listenToSchedules = (bus: Bus, listen: () => void): (() => void) =>
  bus.subscribe(topic, listen)
