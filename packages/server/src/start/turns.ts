/** The part that runs the turns of sessions. */
import { tavilySearch } from '@steward/harness/tools/web-search/tavily.ts'
import type { Config } from '../ground/config/config.ts'
import type { AssemblyParts } from '../engine/runner/assemble.ts'
import { createTurnAssembly } from '../engine/runner/assemble.ts'
import { runByHarness } from '../engine/runner/harnesses.ts'
import { createRunner } from '../engine/runner/runner.ts'
import type { Shares } from './shares.ts'

export function createTurns(
  config: Config,
  { shares, ...deps }: AssemblyParts & { shares: Shares },
) {
  const { sandboxPool: spaces } = deps
  const { apiKey, baseUrl } = config.webSearch
  const { assemble, forget, job } = createTurnAssembly({
    ...deps,
    toolHost: config.sandbox === 'local' ? 'host' : 'sandbox',
    conversions: shares.conversions,
    search: apiKey ? tavilySearch({ apiKey, baseUrl }) : null,
  })
  const turns = createRunner({
    ...deps,
    assemble,
    runTurn: runByHarness,
    slots: shares.turns,
    pauses: shares.pauses,
    stopMs: config.stopMs,
    abandon: async ({ session }) => spaces.stop(session),
    remove: async ({ session }) => {
      forget(session)
      await spaces.remove(session)
    },
  })
  return { ...turns, jobs: [...turns.jobs, job] }
}
