import type { Bus } from '../../ground/bus/bus.ts'

const topic = 'schedules'

/** A schedule may be due sooner than any that was known. Call it after the commit. */
export const notifySchedules = (bus: Bus): void => bus.publish(topic, {})

export const listenToSchedules = (bus: Bus, listen: () => void): (() => void) =>
  bus.subscribe(topic, listen)
