/** Observation of each attempt to deliver a webhook. */
import { createObservation } from '@steward/base/observation.ts'

export const deliveryAttempted = createObservation<{
  outcome: 'delivered' | 'refused' | 'unanswered'
}>('delivery-attempted')
