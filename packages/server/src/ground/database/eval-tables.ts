import type {
  EvalFailure,
  EvalSpec,
  EvalStatus,
  GraderScores,
  ResultStatus,
  Score,
} from '@steward/protocol/evals.ts'
import type { Sample } from '@steward/protocol/samples.ts'
import type { SessionUsage } from '@steward/protocol/sessions.ts'
import type { Json } from '../core/json-text.ts'

/** Progress of a trial. `posted`: messages of its sample that were posted. `inspected`: inspections that began. */
export type TrialStep = { posted: number; inspected: number }

export type EvalTables = {
  eval_runs: {
    tenant_id: string
    id: string
    name: string | null
    metadata: Json<Record<string, string>>
    agent_id: string
    status: EvalStatus
    spec: Json<EvalSpec>
    /** Null until the run ends. */
    scores: Json<GraderScores[]> | null
    /** The lease of the process that drives the run. */
    owner: string | null
    expires_at: number
    started_at: string | null
    ended_at: string | null
    created_at: string
    updated_at: string
  }
  /** Samples of a run or a dataset. Version v of a dataset has the samples with `since` <= v < `until`. */
  eval_samples: {
    tenant_id: string
    set_id: string
    id: string
    since: number
    until: number | null
    position: number
    digest: string
    sample: Json<Sample>
  }
  /** One row for each trial of each sample of a run. The row outlives its session. */
  eval_results: {
    tenant_id: string
    id: string
    run_id: string
    position: number
    sample_id: string
    trial: number
    status: ResultStatus
    step: Json<TrialStep>
    session_id: string | null
    scores: Json<Score[]>
    error: Json<EvalFailure> | null
    answer: string | null
    usage: Json<SessionUsage> | null
    duration_ms: number | null
    started_at: string | null
    ended_at: string | null
    created_at: string
  }
  eval_datasets: {
    tenant_id: string
    id: string
    name: string
    description: string | null
    metadata: Json<Record<string, string>>
    /** Grows with each change of the samples, from 1. */
    version: number
    created_at: string
    updated_at: string
  }
}
