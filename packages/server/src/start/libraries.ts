/** Libraries that the server loads ahead of their first call. */
import { preloadMcp } from '@steward/harness/tools/mcp/connection.ts'
import { preloadWires } from '@steward/model/wire.ts'
import type { ModelWire } from '@steward/model/spec.ts'
import type { Config } from '../ground/config/config.ts'
import { runOnEach } from '../ground/database/database.ts'
import type { Ground } from '../ground/ground.ts'
import { modelCardStore } from '../resources/model-cards/store.ts'

/** The wait leaves the first seconds to requests and turns. A turn that needs a library earlier loads it. */
const afterStartMs = 5_000

/** Returns at once. Libraries that cannot be loaded are logged. */
export function loadLibraries({
  operator,
  databases,
  log,
  clock,
  stopping,
}: Ground & {
  operator: Pick<Config, 'fallbackKeys' | 'modelProviders'>
  /** Aborts the wait. */
  stopping: AbortSignal
}): void {
  async function load(): Promise<void> {
    await clock.sleep(afterStartMs, stopping)
    if (stopping.aborted) return
    const hasNoCards = await runOnEach(databases.due(), ({ read }) =>
      modelCardStore(read).isEmpty(),
    )
    await Promise.all([preloadWires(wiresAhead(operator, !hasNoCards)), preloadMcp()])
  }
  load().catch((error: unknown) => log.warn('libraries could not be loaded ahead', { error }))
}

/**
 * The wires that turns are likely to use. The library of `google-generative-ai` takes 10 MiB. Without an operator's
 * key, the library is loaded at its first call, which takes 0.3 s and does not block the event loop.
 */
const wiresAhead = (
  {
    fallbackKeys: { anthropic, openai, google },
    modelProviders,
  }: Pick<Config, 'fallbackKeys' | 'modelProviders'>,
  hasCards: boolean,
): ModelWire[] => [
  ...(anthropic || hasCards || modelProviders.length > 0 ? (['anthropic-messages'] as const) : []),
  ...(openai || hasCards ? (['openai-completions', 'openai-responses'] as const) : []),
  ...(google ? (['google-generative-ai'] as const) : []),
]
