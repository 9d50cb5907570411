/** The observation of each request or attempt that a rate limit refused. */
import { observation } from '@steward/base/observation.ts'
import type { RateClass } from '../core/rates.ts'

export const requestLimited = observation<{ of: RateClass }>('request-limited')
