/** Scores of a run, by grader and for trials as a whole. */
import type { GraderScores, ResultStatus, Score } from '@steward/protocol/evals.ts'

type GradedResult = { sample_id: string; status: ResultStatus; scores: readonly Score[] }

/** Name under which scores of whole trials appear. */
export const wholeTrial = 'all'

type Tally = { scores: number[]; passes: Map<string, boolean[]> }

/** Trials without a score are left out. */
export function computeScores(results: Iterable<GradedResult>): GraderScores[] {
  const tallies = new Map<string, Tally>()
  const add = (grader: string, sample: string, score: number, passed: boolean) => {
    const tally = tallies.get(grader) ?? { scores: [], passes: new Map<string, boolean[]>() }
    tallies.set(grader, tally)
    tally.scores.push(score)
    tally.passes.set(sample, [...(tally.passes.get(sample) ?? []), passed])
  }
  const whole: GradedResult[] = []
  for (const result of results) {
    if (result.status !== 'passed' && result.status !== 'failed') continue
    whole.push(result)
    for (const { grader, score, passed } of result.scores)
      add(`grader ${grader}`, result.sample_id, score, passed)
  }
  for (const { sample_id, status, scores } of whole)
    add(wholeTrial, sample_id, computeMean(scores.map(({ score }) => score)), status === 'passed')
  return [...tallies].map(([key, tally]) =>
    summaryOf(key === wholeTrial ? key : key.slice('grader '.length), tally),
  )
}

function summaryOf(grader: string, { scores, passes }: Tally): GraderScores {
  const mean = computeMean(scores)
  const variance = computeMean(scores.map((score) => (score - mean) ** 2))
  const samples = [...passes.values()]
  const share = (count: number, of: number) => (of === 0 ? 0 : count / of)
  const trials = samples.flat()
  return {
    grader,
    trials: scores.length,
    mean,
    stddev: Math.sqrt(variance),
    pass_at_1: share(trials.filter(Boolean).length, trials.length),
    pass_all: share(samples.filter((each) => each.every(Boolean)).length, samples.length),
    pass_any: share(samples.filter((each) => each.some(Boolean)).length, samples.length),
  }
}

export const computeMean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, each) => sum + each, 0) / values.length
