/** The observation of each request or attempt that a rate limit refused. */
import { createObservation } from '@steward/base/observation.ts'
import type { RateClass } from '../core/fairness/rates.ts'

export const requestLimited = createObservation<{ of: RateClass }>('request-limited')
