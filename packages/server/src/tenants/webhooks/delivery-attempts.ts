/** Observation of each attempt to deliver a webhook. */
import { observation } from '@steward/base/observation.ts'

export const deliveryAttempted = observation<{
  outcome: 'delivered' | 'refused' | 'unanswered'
}>('delivery-attempted')
