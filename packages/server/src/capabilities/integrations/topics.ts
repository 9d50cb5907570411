import type { Bus } from '../../ground/bus/bus.ts'

const topic = 'integrations'

/** Notifies processes that a delivery or a thread is due. Call it after the commit. */
export const notifyIntegrations = (bus: Bus): void => bus.publish(topic, {})

export const listenToIntegrations = (bus: Bus, listen: () => void): (() => void) =>
  bus.subscribe(topic, listen)

const tokensTopic = 'integrations/tokens'

/** Notifies processes that the vaults of an installation need its new token. Call it after the commit. */
export const notifyOfTokens = (bus: Bus): void => bus.publish(tokensTopic, {})

export const listenToTokens = (bus: Bus, listen: () => void): (() => void) =>
  bus.subscribe(tokensTopic, listen)
