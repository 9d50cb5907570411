import { releasedLease } from '../../ground/database/lease.ts'
import { noSpending } from '../log/head.ts'
import { outcomeStage } from '../log/outcome-stage.ts'

/** The head of a session's log at its creation, besides what the agent and the budget say. */
export const newHead = {
  next_seq: 0,
  next_position: 0,
  inbox_bytes: 0,
  stop_reason: null,
  due: 0,
  ...releasedLease,
  previous_owner: null,
  generation: 0,
  recoveries: 0,
  running_since_ms: null,
  active_ms: 0,
  idle_since_ms: null,
  input_tokens: 0,
  output_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
  awaits_stdio: 0,
  outcome: outcomeStage.none,
  threads: 0,
  turns: 0,
  ...noSpending,
}
