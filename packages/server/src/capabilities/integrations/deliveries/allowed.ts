import type { Incoming } from '../integration.ts'

/** A delivery that was not ignored when it came. */
export type HeardDelivery = Exclude<Incoming, { kind: 'ignored' }>
