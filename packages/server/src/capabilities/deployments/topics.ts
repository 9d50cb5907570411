import type { Bus } from '../../ground/bus/bus.ts'

const topic = 'schedules'

/** Notifies schedulers that a schedule may be due earlier than known ones. Call it after the commit. */
export const notifySchedules = (bus: Bus): void => bus.publish(topic, {})

export const listenToSchedules = (bus: Bus, listen: () => void): (() => void) =>
  bus.subscribe(topic, listen)
