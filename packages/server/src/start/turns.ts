/** The part that runs the turns of sessions. */
import { tavily } from '@steward/harness/tools/web-search/tavily.ts'
import type { Config } from '../ground/config/config.ts'
import type { AssemblyDeps } from '../engine/runner/assemble.ts'
import { assembly } from '../engine/runner/assemble.ts'
import { runByHarness } from '../engine/runner/harnesses.ts'
import type { RunnerDeps } from '../engine/runner/runner.ts'
import { runner } from '../engine/runner/runner.ts'
import type { Shares } from './shares.ts'

type TurnsDeps = Omit<AssemblyDeps, 'search' | 'toolHost' | 'conversions'> &
  Pick<RunnerDeps, 'bus'> & { shares: Shares }

export function turnsOf(config: Config, { bus, shares, ...deps }: TurnsDeps) {
  const { databases, clock, log, sandboxPool: spaces } = deps
  const { apiKey, baseUrl } = config.webSearch
  const { assemble, forget, job } = assembly({
    ...deps,
    toolHost: config.sandbox === 'local' ? 'host' : 'sandbox',
    conversions: shares.conversions,
    search: apiKey ? tavily({ apiKey, baseUrl }) : null,
  })
  const turns = runner({
    databases,
    bus,
    clock,
    log,
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
