/** For tests: a layer below a process that makes its syncs slow, lets them fail, or copies the synced files. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

const source = new URL('./sync-layer-fixture.c', import.meta.url).pathname

export type SyncLayer = {
  /** A folder with a copy of each file as of its last complete sync. */
  copies?: string
  delayMs?: number
  /** A file with a letter for each sync: `m` for a sync by the main thread, `o` for any other. */
  log?: string
  /** While this file exists, each sync fails. */
  fails?: string
}

/** Compiles the layer into a folder, and returns the variables that put it below a process. */
export async function syncLayer(
  folder: string,
  { copies, delayMs, log, fails }: SyncLayer,
): Promise<Record<string, string>> {
  const library = join(folder, 'sync-layer.so')
  const flags = ['-O2', '-Wall', '-Wextra', '-Werror', '-shared', '-fPIC']
  await promisify(execFile)('cc', [...flags, '-o', library, source, '-ldl']).catch((cause) => {
    throw new Error('this test needs a C compiler: run `apt-get install gcc libc6-dev`', { cause })
  })
  return {
    LD_PRELOAD: library,
    ...(copies !== undefined && { SYNC_COPIES: copies }),
    ...(delayMs !== undefined && { SYNC_DELAY: String(delayMs * 1_000) }),
    ...(log !== undefined && { SYNC_LOG: log }),
    ...(fails !== undefined && { SYNC_FAILS: fails }),
  }
}
