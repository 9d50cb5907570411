/** Evals: an agent runs over samples, and graders say how well it did. */
import { z } from 'zod'
import { SessionBudget } from './budgets.ts'
import { EvalTask } from './eval-tasks.ts'
import { exampleIds } from './example-ids.ts'
import type { Grader } from './graders.ts'
import { Graders } from './graders.ts'
import { Id, Line, ListQuery, Metadata, Timestamp } from './primitives.ts'
import { SampleId, Samples } from './samples.ts'
import type { SessionUsage } from './sessions.ts'
import { AgentChoice } from './session-choices.ts'

const mostTrials = 20
/** The most results of one run: samples times trials. */
export const mostResults = 10_000

export const EvalCreate = z
  .strictObject({
    name: Line.max(256).nullish().describe('What people call the run.'),
    metadata: Metadata.nullish(),
    agent: AgentChoice.nullish().describe(
      'What is measured: the id of an agent, or an object that pins a version or overrides fields. The version is fixed when the run is created.',
    ),
    environment_id: Id.nullish().describe('Required unless the agent names an environment.'),
    vault_ids: z
      .array(Id)
      .max(50)
      .nullish()
      .describe('Vaults of each trial; the first that has a credential wins.'),
    dataset: z
      .strictObject({
        id: Id,
        version: z.int().min(1).nullish().describe('The newest when absent.'),
      })
      .nullish()
      .describe('The samples. Give this, or `samples`.'),
    samples: Samples.nullish().describe('Samples of this run alone.'),
    graders: Graders.nullish().describe('They score every sample.'),
    trials: z.int().min(1).max(mostTrials).default(1).describe('How often each sample is run.'),
    max_concurrency: z.int().min(1).max(100).default(10).describe('Trials at once at most.'),
    timeout_ms: z.int().min(1_000).max(86_400_000).default(600_000).describe('For one trial.'),
    budget: SessionBudget.nullish().describe('Most that one trial may cost.'),
    baseline_run_id: Id.nullish().describe('A run to compare with.'),
    dry_run: z
      .boolean()
      .default(false)
      .describe('Checks everything, says what the run would be, and starts nothing.'),
    agent_id: Id.nullish().describe('With `tasks`: the agent.'),
    tasks: z
      .array(EvalTask)
      .min(1)
      .max(1000)
      .refine((tasks) => new Set(tasks.map(({ id }) => id)).size === tasks.length, {
        message: 'may not have two tasks with one id',
      })
      .nullish()
      .describe('In place of samples: the body of an earlier interface.'),
  })
  .refine(({ agent, agent_id }) => !agent !== !agent_id, {
    path: ['agent'],
    message: 'is required, or agent_id with tasks, and not both',
  })
  .refine(({ agent_id, tasks }) => !agent_id === !tasks, {
    path: ['agent_id'],
    message: 'goes with tasks, and tasks with it',
  })
  .refine(({ dataset, samples, tasks }) => [dataset, samples, tasks].filter(Boolean).length === 1, {
    path: ['samples'],
    message: 'required, or a dataset, or tasks, and one of them',
  })
  .refine(
    ({ graders, samples }) =>
      graders?.length || (samples ?? []).every((each) => each.graders?.length),
    { path: ['graders'], message: 'is required, because a sample has none' },
  )
  .refine(({ samples, tasks, trials }) => (samples ?? tasks ?? []).length * trials <= mostResults, {
    path: ['trials'],
    message: `samples times trials may be ${mostResults} at most`,
  })
  .meta({
    id: 'EvalCreateParams',
    examples: [
      {
        agent: exampleIds.agent,
        environment_id: exampleIds.environment,
        samples: [{ id: 'greets', input: 'say: hello', expected: 'hello' }],
        graders: [{ name: 'greeting', type: 'text', op: 'includes' }],
      },
    ],
  })
export type EvalBody = z.infer<typeof EvalCreate>
/** A body whose tasks have been turned into samples. */
export type EvalCreate = Omit<EvalBody, 'agent' | 'agent_id' | 'tasks'> & { agent: AgentChoice }

/** `failed`: no trial could be scored. */
export const evalStatuses = [
  'queued',
  'running',
  'canceling',
  'completed',
  'failed',
  'canceled',
] as const
export type EvalStatus = (typeof evalStatuses)[number]

export const resultStatuses = [
  'queued',
  'running',
  'passed',
  'failed',
  'errored',
  'canceled',
] as const
export type ResultStatus = (typeof resultStatuses)[number]

/** The settings of a run, fixed at its creation. */
export type EvalSpec = {
  agent: Exclude<AgentChoice, string> & { version: number }
  environment_id: string | null
  vault_ids: string[]
  /** Null for a run with samples of its own. */
  dataset: { id: string; version: number } | null
  graders: Grader[]
  trials: number
  max_concurrency: number
  timeout_ms: number
  budget: SessionBudget | null
  baseline_run_id: string | null
}

export type EvalCounts = { total: number } & Record<ResultStatus, number>

/** `pass_all`: the share of samples whose trials all passed. `pass_any`: the share of samples with a passed trial. */
export type GraderScores = {
  grader: string
  trials: number
  mean: number
  stddev: number
  pass_at_1: number
  pass_all: number
  pass_any: number
}

const share = z.number().min(0).max(1)
const ScoresShown = z
  .object({
    grader: z.string().describe('The name of a grader, or `all` for trials as a whole.'),
    trials: z.int().describe('Trials that were scored.'),
    mean: share.describe('The mean score, from 0 to 1.'),
    stddev: z.number().describe('The standard deviation of the scores.'),
    pass_at_1: share.describe('Share of the trials that passed.'),
    pass_all: share.describe('Share of the samples of which every trial passed.'),
    pass_any: share.describe('Share of the samples of which a trial passed.'),
  })
  .meta({ id: 'EvalScores', description: 'How one grader scored the trials of a run.' })

const CountsShown = z
  .object({
    total: z.int().describe('All trials of the run.'),
    queued: z.int().describe('Trials that have not begun.'),
    running: z.int().describe('Trials that run.'),
    passed: z.int().describe('Trials that all graders passed.'),
    failed: z.int().describe('Trials that a grader failed.'),
    errored: z.int().describe('Trials that could not be scored. They count in no score.'),
    canceled: z.int().describe('Trials that a cancel ended.'),
  })
  .meta({ id: 'EvalCounts', description: 'Trials of a run, by their status.' })

export type EvalFailure = { type: string; message: string }
const FailureShown = z
  .object({ type: z.string(), message: z.string() })
  .meta({ id: 'EvalError', description: 'Why a trial could not be scored.' })

export type Eval = {
  id: string
  type: 'eval'
  name: string | null
  metadata: Record<string, string>
  status: EvalStatus
  counts: EvalCounts
  scores: GraderScores[]
  created_at: string
  updated_at: string
  started_at: string | null
  ended_at: string | null
} & EvalSpec

export const EvalShown = z
  .looseObject({
    id: z.string(),
    type: z.literal('eval'),
    name: z.string().nullable(),
    metadata: z.record(z.string(), z.string()),
    status: z.enum(evalStatuses).describe('`failed`: no trial could be scored.'),
    agent: z
      .looseObject({
        id: z.string(),
        version: z.int().describe('The version, fixed when the run was created.'),
      })
      .describe('The agent at the version that is measured, with its overrides.'),
    environment_id: z.string().nullable(),
    dataset: z
      .object({
        id: z.string(),
        version: z.int().describe('The version, fixed when the run was created.'),
      })
      .nullable()
      .describe('The dataset and its version; null for samples of the run alone.'),
    trials: z.int().describe('How often each sample is run.'),
    counts: CountsShown,
    scores: z.array(ScoresShown).describe('By grader; the last entry is for trials as a whole.'),
    created_at: Timestamp,
    started_at: Timestamp.nullable().describe('When the first trial began, or null.'),
    ended_at: Timestamp.nullable().describe('When the run ended, or null.'),
  })
  .meta({ id: 'Eval', description: 'A run of an agent over samples.' })

/** The judgement of one grader about one trial. `explanation`: the part of the trial that the grader looked at. */
export type Score = { grader: string; score: number; passed: boolean; explanation: string }

export type EvalResult = {
  id: string
  type: 'eval_result'
  run_id: string
  sample_id: string
  trial: number
  session_id: string | null
  status: ResultStatus
  scores: Score[]
  error: EvalFailure | null
  answer: string | null
  usage: SessionUsage | null
  duration_ms: number | null
  started_at: string | null
  ended_at: string | null
}

export const EvalResultShown = z
  .looseObject({
    id: z.string(),
    type: z.literal('eval_result'),
    run_id: z.string().describe('The id of the run.'),
    sample_id: z.string().describe('The id of the sample.'),
    trial: z.int().describe('Counts the trials of a sample from 0.'),
    session_id: z.string().nullable().describe('The session of the trial, which may be deleted.'),
    status: z.enum(resultStatuses).describe('`errored`: the trial could not be scored.'),
    scores: z
      .array(
        z
          .object({
            grader: z.string().describe('The name of the grader.'),
            score: share.describe('From 0 to 1.'),
            passed: z.boolean().describe('Whether the grader passed the trial.'),
            explanation: z.string().describe('What the grader looked at.'),
          })
          .meta({ id: 'EvalScore', description: 'How a grader judged a trial.' }),
      )
      .describe('What each grader gave the trial.'),
    error: FailureShown.nullable(),
    answer: z.string().nullable().describe('The last message of the agent.'),
    duration_ms: z
      .int()
      .nullable()
      .describe('Milliseconds from its beginning to its end, or null.'),
    started_at: Timestamp.nullable().describe('When the trial began, or null.'),
    ended_at: Timestamp.nullable().describe('When the trial ended, or null.'),
  })
  .meta({ id: 'EvalResult', description: 'One trial of one sample, and its scores.' })

export const EvalListQuery = ListQuery.extend({
  status: z.enum(evalStatuses).optional().describe('Only runs in this state.'),
})

export const ResultListQuery = ListQuery.extend({
  status: z.enum(resultStatuses).optional().describe('Only trials in this state.'),
  sample_id: SampleId.optional().describe('Only trials of this sample.'),
})

/** The result of a comparison with the baseline. `noise`: the difference may be chance. */
const changes = ['same', 'noise', 'worse', 'better'] as const
/** Samples that cannot be compared. */
const apart = ['changed', 'added', 'removed', 'unscored'] as const

export type ScoreChange = (typeof changes)[number]
type PassCount = { passed: number; trials: number }
export type SampleChange = {
  sample_id: string
  change: ScoreChange | (typeof apart)[number]
  before: PassCount | null
  now: PassCount | null
  text: string
}
export type GraderChange = {
  grader: string
  change: ScoreChange
  before: number
  now: number
  difference: number
  low: number
  high: number
  text: string
}
export type EvalComparison = {
  type: 'eval_comparison'
  run_id: string
  baseline_run_id: string
  verdict: ScoreChange | 'mixed'
  summary: string
  confidence: number
  graders: GraderChange[]
  samples: SampleChange[]
}

const PassCountShown = z
  .object({
    passed: z.int().describe('Trials that passed.'),
    trials: z.int().describe('Trials that were scored.'),
  })
  .nullable()
export const EvalComparisonShown = z
  .object({
    type: z.literal('eval_comparison'),
    run_id: z.string().describe('The run that is compared.'),
    baseline_run_id: z.string().describe('The run that it is compared with.'),
    verdict: z
      .enum([...changes, 'mixed'])
      .describe('How the run compares as a whole. `noise`: the difference may be chance.'),
    summary: z.string().describe('The same in words.'),
    confidence: share.describe('How sure a claim of better or worse is.'),
    graders: z
      .array(
        z.object({
          grader: z.string().describe('The name of the grader, or `all`.'),
          change: z.enum(changes).describe('How its scores compare.'),
          before: share.describe('Its mean score in the baseline.'),
          now: share.describe('Its mean score in the run.'),
          difference: z.number().describe('`now` less `before`.'),
          low: z.number().describe('Where the interval of the difference begins.'),
          high: z.number().describe('Where the interval of the difference ends.'),
          text: z.string(),
        }),
      )
      .describe('First trials as a whole, as `all`.'),
    samples: z
      .array(
        z.object({
          sample_id: z.string().describe('The id of the sample.'),
          change: z
            .enum([...changes, ...apart])
            .describe(
              'How the sample compares. `changed`: it was edited between the runs and counts nowhere.',
            ),
          before: PassCountShown.describe('Its trials in the baseline, or null.'),
          now: PassCountShown.describe('Its trials in the run, or null.'),
          text: z.string(),
        }),
      )
      .describe('The samples of both runs, joined by their ids.'),
  })
  .meta({ id: 'EvalComparison', description: 'What differs between two runs, and what is chance.' })

export const CompareQuery = z.object({
  baseline: Id.optional().describe('The run to compare with; `baseline_run_id` when absent.'),
})

export type EvalPlan = {
  type: 'eval_dry_run'
  samples: number
  trials: number
  total: number
  expected_cost: { amount: string; currency: 'USD' } | null
  most_cost: { amount: string; currency: 'USD' } | null
}
const Cost = z
  .object({ amount: z.string().describe('US cents, as text.'), currency: z.literal('USD') })
  .nullable()
export const EvalPlanShown = z
  .object({
    type: z.literal('eval_dry_run'),
    samples: z.int().describe('Samples that would be run.'),
    trials: z.int().describe('Of each sample.'),
    total: z.int().describe('Sessions that the run would create.'),
    expected_cost: Cost.describe(
      'US cents, by what earlier trials of the agent cost. Null where there are none, or none with a price.',
    ),
    most_cost: Cost.describe('US cents, by the budget. Null without one.'),
  })
  .meta({ id: 'EvalDryRun', description: 'What a run would be.' })

const exportFormats = ['jsonl', 'junit'] as const
export type ExportFormat = (typeof exportFormats)[number]

export const ExportQuery = z.object({
  format: z
    .enum(exportFormats)
    .default('jsonl')
    .describe('A line of JSON for each trial, or a file as test runners write it.'),
})
