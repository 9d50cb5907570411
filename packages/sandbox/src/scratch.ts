/** The size of folders in memory. */

/** `/tmp`, `/run`, `/var/tmp`, the home, `/dev/shm`, the shell's state, and all volumes of an image as one. */
const folders = 7
const most = 256 << 20

/**
 * Bytes of each folder, for this much memory of the sandbox. The contents of the folders count as memory. When all
 * folders are full, enough memory is left to run the commands that empty them.
 */
export const scratchOf = (memory: number): number =>
  Math.min(most, Math.floor(memory / (folders + 1)))
