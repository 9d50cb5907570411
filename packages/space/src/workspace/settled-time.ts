/**
 * A file gets the time of the kernel's last tick: changed twice within a tick it may keep its time, and a change may have a
 * time before the moment it was made at. In milliseconds, far beyond a tick.
 */
export const settledMs = 100
