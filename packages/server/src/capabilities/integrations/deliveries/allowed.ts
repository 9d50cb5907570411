import type { Incoming } from '../integration.ts'

/** A delivery that was not ignored when it came. */
export type AllowedDelivery = Exclude<Incoming, { kind: 'ignored' }>
