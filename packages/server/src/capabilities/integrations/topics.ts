import type { Bus } from '../../ground/bus/bus.ts'
import type { Notifying } from '../../ground/core/notice.ts'

const topic = 'integrations'

/** Notifies processes that a delivery or a thread is due. */
export const notifyIntegrations = (tx: Notifying): void => tx.afterCommit({ topic, message: {} })

export const listenToIntegrations = (bus: Bus, listen: () => void): (() => void) =>
  bus.subscribe(topic, listen)

const tokensTopic = 'integrations/tokens'

/** Notifies processes that the vaults of an installation need its new token. */
export const notifyOfTokens = (tx: Notifying): void =>
  tx.afterCommit({ topic: tokensTopic, message: {} })

export const listenToTokens = (bus: Bus, listen: () => void): (() => void) =>
  bus.subscribe(tokensTopic, listen)
