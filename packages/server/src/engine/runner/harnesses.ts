/** Who runs a turn, by the name that its agent chose. docs/custom-harnesses.md says how to add one. */
import { runTurn } from '@steward/harness/loop.ts'
import type { RunTurn } from '@steward/harness/turn.ts'
import type { AgentConfig } from '@steward/protocol/agents.ts'

const harnesses: Record<AgentConfig['harness'], RunTurn> = {
  default: runTurn,
  /** The same, with a context that is compacted ahead; see `compactionOf`. */
  native: runTurn,
}

export const runByHarness: RunTurn = (turn) => harnesses[turn.harness](turn)
