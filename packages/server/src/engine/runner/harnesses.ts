/** The harnesses by name; an agent chooses one. docs/custom-harnesses.md says how to add a harness. */
import { runTurn } from '@steward/harness/loop.ts'
import type { RunTurn } from '@steward/harness/turn.ts'
import type { AgentConfig } from '@steward/protocol/agents.ts'

const harnesses: Record<AgentConfig['harness'], RunTurn> = {
  default: runTurn,
  /** The same loop as `default`, with a context that is compacted ahead of the limit; see `readCompaction`. */
  native: runTurn,
}

export const runByHarness: RunTurn = (turn) => harnesses[turn.harness](turn)
