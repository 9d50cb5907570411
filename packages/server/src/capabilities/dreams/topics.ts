import type { Bus } from '../../ground/bus/bus.ts'

const topic = 'dreams'

/** Notifies processes that a dream was created or canceled. Call it after the commit. */
export const notifyDreams = (bus: Bus): void => bus.publish(topic, {})

export const listenToDreams = (bus: Bus, listen: () => void): (() => void) =>
  bus.subscribe(topic, listen)
