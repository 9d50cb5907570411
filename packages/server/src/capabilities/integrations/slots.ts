import type { SlotLimits } from '../../ground/core/fairness/work-slots.ts'
import type { DueDelivery } from './store.ts'

/** Each publication gets a part, so that a slow receiver does not hold up others. */
export const publicationSlots: SlotLimits<DueDelivery> = {
  total: 64,
  percent: 50,
  group: { of: ({ publication_id }) => publication_id, most: 8 },
}

/** The most pieces that one query finds. */
export const mostDue = 200
