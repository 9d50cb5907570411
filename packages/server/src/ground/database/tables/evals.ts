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
import { json, long, nullable, number, record, table, text } from '../table.ts'

/** Progress of a trial. `posted`: messages of its sample that were posted. `inspected`: inspections that began. */
export type TrialStep = { posted: number; inspected: number }

export const evalTables = {
  eval_runs: table({
    rows: 'tenant',
    key: ['tenant_id', 'id'],
    noun: 'eval',
    lease: { owner: 'owner', expires: 'expires_at' },
    columns: {
      tenant_id: text(),
      id: text(),
      name: nullable(long(text())),
      metadata: long(json<Record<string, string>>()),
      agent_id: text(),
      status: text<EvalStatus>(),
      spec: long(record<EvalSpec>()),
      /** Null until the run ends. */
      scores: nullable(long(json<GraderScores[]>())),
      /** The lease of the process that drives the run. */
      owner: nullable(text()),
      expires_at: number(),
      started_at: nullable(text()),
      ended_at: nullable(text()),
      created_at: text(),
      updated_at: text(),
    },
  }),
  /** Samples of a run or a dataset. Version v of a dataset has the samples with `since` <= v < `until`. */
  eval_samples: table({
    rows: 'tenant',
    key: ['tenant_id', 'set_id', 'id', 'since'],
    columns: {
      tenant_id: text(),
      set_id: text(),
      id: text(),
      since: number(),
      until: nullable(number()),
      position: number(),
      digest: text(),
      sample: json<Sample>(),
    },
  }),
  /** One row for each trial of each sample of a run. The row outlives its session. */
  eval_results: table({
    rows: 'tenant',
    key: ['tenant_id', 'run_id', 'position', 'trial'],
    noun: 'eval result',
    columns: {
      tenant_id: text(),
      id: text(),
      run_id: text(),
      position: number(),
      sample_id: long(text()),
      trial: number(),
      status: text<ResultStatus>(),
      step: json<TrialStep>(),
      session_id: nullable(text()),
      scores: long(json<Score[]>()),
      error: nullable(long(json<EvalFailure>())),
      answer: nullable(long(text())),
      usage: nullable(long(json<SessionUsage>())),
      duration_ms: nullable(number()),
      started_at: nullable(text()),
      ended_at: nullable(text()),
      created_at: text(),
    },
  }),
  eval_datasets: table({
    rows: 'tenant',
    key: ['tenant_id', 'id'],
    noun: 'eval dataset',
    columns: {
      tenant_id: text(),
      id: text(),
      name: long(text()),
      description: nullable(long(text())),
      metadata: long(json<Record<string, string>>()),
      /** Grows with each change of the samples, from 1. */
      version: number(),
      created_at: text(),
      updated_at: text(),
    },
  }),
}
