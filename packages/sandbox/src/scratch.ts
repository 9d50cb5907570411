/** How large folders in memory may be. */

/** `/tmp`, `/run`, `/var/tmp`, the home, `/dev/shm`, the shell's state, and all volumes of an image as one. */
const folders = 7
const most = 256 << 20

/**
 * Bytes of each, in a sandbox of so much memory, which their contents count as: were all of them full, the rest is still
 * enough to run what clears them away.
 */
export const scratchOf = (memory: number): number =>
  Math.min(most, Math.floor(memory / (folders + 1)))
