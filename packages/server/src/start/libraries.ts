/** Libraries that the server loads before their first call. */
import type { Log } from '@steward/base/log.ts'
import { preloadMcp } from '@steward/harness/tools/mcp/connection.ts'
import { preload } from '@steward/model/wire.ts'
import type { Config } from '../ground/config/config.ts'

/**
 * The library of the fourth wire takes 10 MiB: the server loads it ahead where the operator has a key for it, else at its
 * first call, which waits 0.3 s for it while the event loop goes on.
 */
const wiresAhead = ['anthropic-messages', 'openai-completions', 'openai-responses'] as const

export function loadLibraries({ google }: Config['fallbackKeys'], log: Log): void {
  Promise.all([preload(google ? undefined : wiresAhead), preloadMcp()]).catch((error: unknown) =>
    log.warn('libraries could not be loaded ahead', { error }),
  )
}
