import type { Json } from '../core/json-text.ts'
import type { OutcomeResult } from '@steward/protocol/outcomes.ts'

/** The stage of the session's newest outcome, as a number of `sessions/log/outcome-stage.ts`. */
export type HeadOutcome = { outcome: number }

/** The judge of an idle session's work. `files`: absolute paths, written before the script runs. */
export type Inspection =
  | {
      type: 'script'
      script: string | null
      files: { path: string; content: string }[]
      timeout_ms: number
    }
  | { type: 'rubric'; content: string }

export type OutcomeTables = {
  /** All outcomes of a session. At most one is open. */
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
    /** Id of the evaluation's start event while the work is judged, else null. */
    start_id: string | null
    completed_at: string | null
    /** Null for an outcome that a client defined. */
    inspection: Json<Inspection> | null
  }
}
