import type { Json } from '../core/json-text.ts'
import type { OutcomeResult } from '@steward/protocol/outcomes.ts'

/** Where the newest outcome of a session stands; see `sessions/log/outcome-stage.ts`. */
export type HeadOutcome = { outcome: number }

/** How a session that rests is judged. `files` are written before the script runs; their paths are absolute. */
export type Inspection =
  | {
      type: 'script'
      script: string | null
      files: { path: string; content: string }[]
      timeout_ms: number
    }
  | { type: 'rubric'; content: string }

export type OutcomeTables = {
  /** Each outcome that was ever defined in a session; at most one of them is open. */
  outcomes: {
    tenant_id: string
    session_id: string
    id: string
    description: string
    rubric: string
    max_iterations: number
    result: OutcomeResult
    /** Counts evaluations from 0. */
    iteration: number
    explanation: string | null
    /** Id of the evaluation's start event, while the work is judged. */
    start_id: string | null
    completed_at: string | null
    /** Null for an outcome that somebody defined. */
    inspection: Json<Inspection> | null
  }
}
