import type { OutcomeResult } from '@steward/protocol/outcomes.ts'
import type { RowFor } from '../table.ts'
import { json, nullable, number, table, text } from '../table.ts'

/** The stage of the session's newest outcome, as a number of `sessions/log/outcome-stage.ts`. */
export const headOutcome = { outcome: number() }
export type HeadOutcome = RowFor<typeof headOutcome>

/** The judge of an idle session's work. `files`: absolute paths, written before the script runs. */
export type Inspection =
  | {
      type: 'script'
      script: string | null
      files: { path: string; content: string }[]
      timeout_ms: number
    }
  | { type: 'rubric'; content: string }

export const outcomeTables = {
  /** All outcomes of a session. At most one is open. */
  outcomes: table({
    rows: 'tenant',
    key: ['tenant_id', 'session_id', 'id'],
    columns: {
      tenant_id: text(),
      session_id: text(),
      id: text(),
      description: text(),
      rubric: text(),
      max_iterations: number(),
      result: text<OutcomeResult>(),
      /** Counts evaluations from 0. */
      iteration: number(),
      explanation: nullable(text()),
      /** Id of the evaluation's start event while the work is judged, else null. */
      start_id: nullable(text()),
      completed_at: nullable(text()),
      /** Null for an outcome that a client defined. */
      inspection: nullable(json<Inspection>()),
    },
  }),
}
