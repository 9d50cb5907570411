/**
 * A time far beyond one tick of the kernel's clock. A change gets the time of the last tick: two changes within a tick
 * may have the same time, and a change may have a time before its moment.
 */
export const settledMs = 100
