/** Compares a run with a baseline: improvements, regressions, and differences that can be chance. */
import type { EvalComparison, GraderChange, SampleChange, Score } from '@steward/protocol/evals.ts'
import type { ScorePair, PassCounts } from './chance.ts'
import {
  errorRate,
  computeChance,
  decidingTrials,
  exactChance,
  computeInterval,
  seededRandom,
  significantTests,
} from './chance.ts'
import { computeMean, wholeTrial } from './scores.ts'

/** `digest`: digest of the sample. `trials`: the scored trials. */
export type ComparedSample = {
  id: string
  digest: string
  trials: readonly { passed: boolean; scores: readonly Score[] }[]
}
export type ComparedRun = { id: string; samples: readonly ComparedSample[] }

/** A fixed seed, so that two runs always compare alike. */
const seed = 20_261_123

export function compareRuns(baseline: ComparedRun, run: ComparedRun): EvalComparison {
  const before = new Map(baseline.samples.map((each) => [each.id, each]))
  const ids = new Set(run.samples.map(({ id }) => id))
  const joined = run.samples.map((now) => ({ now, before: before.get(now.id) }))
  const same = joined.flatMap(({ now, before: was }) =>
    was && was.digest === now.digest && was.trials.length > 0 && now.trials.length > 0
      ? [{ now, before: was }]
      : [],
  )
  const { changes, suspects } = changesOf(same)
  const samples = [
    ...joined.map(({ now, before: was }) => changes.get(now.id) ?? unjoinedChange(now, was)),
    ...baseline.samples.filter(({ id }) => !ids.has(id)).map((was) => withoutNow(was)),
  ]
  const graders = gradersOf(same)
  const verdict = verdictOf([...samples, ...graders].map(({ change }) => change))
  return {
    type: 'eval_comparison',
    run_id: run.id,
    baseline_run_id: baseline.id,
    verdict,
    summary: summaryOf(verdict, { samples, graders, suspects: [...suspects] }),
    confidence: 1 - errorRate,
    graders,
    samples,
  }
}

type SamplePair = { now: ComparedSample; before: ComparedSample }

const passesOf = ({ trials }: ComparedSample): PassCounts => ({
  passed: trials.filter(({ passed }) => passed).length,
  trials: trials.length,
})

const told = ({ passed, trials }: PassCounts): string => `${passed} of ${trials}`

/** Changes of samples; all samples form one family of tests. `suspects`: changes that would be certain alone. */
function changesOf(same: readonly SamplePair[]) {
  const counts = same.map(({ now, before }) => ({
    id: now.id,
    now: passesOf(now),
    before: passesOf(before),
  }))
  const chances = counts.map(({ before, now }) => exactChance(before, now))
  const certain = significantTests(chances)
  const suspects = new Set<SampleChange>()
  const changes = new Map<string, SampleChange>()
  for (const [index, { id, before, now }] of counts.entries()) {
    const difference = now.passed / now.trials - before.passed / before.trials
    const change = changeOf(difference, certain.has(index))
    const isSuspect = change === 'noise' && (chances[index] ?? 1) <= errorRate
    const more = isSuspect ? suspicion(before, now, counts.length) : ''
    const text = `${textOf(id, change, before, now)}${more}`
    const found: SampleChange = { sample_id: id, change, before, now, text }
    changes.set(id, found)
    if (isSuspect) suspects.add(found)
  }
  return { changes, suspects }
}

/** Of a difference that would be no chance in one sample, and may be one among so many. */
function suspicion(before: PassCounts, now: PassCounts, family: number): string {
  const trials = decidingTrials(before, now, family)
  const among = ` among ${family} samples, and alone hardly would be`
  return trials === undefined
    ? among
    : `${among}; ${trials} trials that go on like this would decide`
}

const changeOf = (difference: number, isCertain: boolean) => {
  if (difference === 0) return 'same' as const
  if (!isCertain) return 'noise' as const
  return difference < 0 ? ('worse' as const) : ('better' as const)
}

const phrases = {
  same: 'as before',
  noise: 'which may be chance',
  worse: 'which is worse',
  better: 'which is better',
} as const

const textOf = (
  id: string,
  change: keyof typeof phrases,
  before: PassCounts,
  now: PassCounts,
): string => `${id}: ${told(before)} trials passed before and ${told(now)} now, ${phrases[change]}`

/** The change of a sample that cannot be compared. */
function unjoinedChange(now: ComparedSample, before: ComparedSample | undefined): SampleChange {
  const counts = { before: before ? passesOf(before) : null, now: passesOf(now) }
  const { id } = now
  if (!before)
    return { sample_id: id, change: 'added', ...counts, text: `${id}: not in the baseline` }
  if (before.digest !== now.digest)
    return { sample_id: id, change: 'changed', ...counts, text: `${id}: the sample was changed` }
  const text = `${id}: no trial was scored ${now.trials.length === 0 ? 'now' : 'before'}`
  return { sample_id: id, change: 'unscored', ...counts, text }
}

const withoutNow = (before: ComparedSample): SampleChange => ({
  sample_id: before.id,
  change: 'removed',
  before: passesOf(before),
  now: null,
  text: `${before.id}: only in the baseline`,
})

/** Changes of graders that both runs have, and of trials as a whole; together they form one family of tests. */
function gradersOf(same: readonly SamplePair[]): GraderChange[] {
  const names = new Set(
    same.flatMap(({ now }) => now.trials[0]?.scores.map(({ grader }) => grader) ?? []),
  )
  const whole = same.map(({ now, before }) => ({
    before: before.trials.map(({ passed }) => Number(passed)),
    now: now.trials.map(({ passed }) => Number(passed)),
  }))
  const tested: { grader: string; pairs: ScorePair[] }[] = [{ grader: wholeTrial, pairs: whole }]
  for (const grader of names) tested.push({ grader, pairs: pairsOf(same, grader) })
  const compared = tested.filter(({ pairs }) => pairs.length > 0)
  const certain = significantTests(
    compared.map(({ pairs }) => computeChance(pairs, seededRandom(seed))),
  )
  return compared.map(({ grader, pairs }, index) => {
    const interval = computeInterval(pairs)
    const excludesNone = interval.low > 0 || interval.high < 0
    const change = changeOf(interval.difference, certain.has(index) && excludesNone)
    return {
      grader,
      change,
      before: computeMean(pairs.map(({ before }) => computeMean(before))),
      now: computeMean(pairs.map(({ now }) => computeMean(now))),
      ...interval,
      text: graderText(grader, change, interval),
    }
  })
}

function pairsOf(same: readonly SamplePair[], grader: string): ScorePair[] {
  const scoresOf = ({ trials }: ComparedSample) =>
    trials.flatMap(({ scores }) => scores.find((each) => each.grader === grader)?.score ?? [])
  return same
    .map(({ now, before }) => ({ now: scoresOf(now), before: scoresOf(before) }))
    .filter((pair) => pair.now.length > 0 && pair.before.length > 0)
}

const points = (share: number): string => (Math.round(share * 1000) / 10).toString()

function graderText(
  grader: string,
  change: keyof typeof phrases,
  { difference, low, high }: { difference: number; low: number; high: number },
): string {
  const name = grader === wholeTrial ? 'all trials' : `grader ${grader}`
  if (change === 'same') return `${name}: as before`
  const moved = `${name}: ${difference > 0 ? 'up' : 'down'} by ${points(Math.abs(difference))} points`
  const range = `with ${Math.round((1 - errorRate) * 100)} % confidence between ${points(low)} and ${points(high)}`
  return `${moved}, ${range}, ${phrases[change]}`
}

function verdictOf(changes: readonly string[]): EvalComparison['verdict'] {
  const [isWorse, isBetter] = [changes.includes('worse'), changes.includes('better')]
  if (isWorse && isBetter) return 'mixed'
  if (isWorse || isBetter) return isWorse ? 'worse' : 'better'
  return changes.includes('noise') ? 'noise' : 'same'
}

const verdicts = {
  worse: 'The agent got worse.',
  better: 'The agent got better.',
  mixed: 'Some got better, and some got worse.',
  noise: 'No difference is larger than chance.',
  same: 'There is no difference.',
} as const

function summaryOf(
  verdict: EvalComparison['verdict'],
  {
    samples,
    graders,
    suspects,
  }: {
    samples: readonly SampleChange[]
    graders: readonly GraderChange[]
    suspects: readonly SampleChange[]
  },
): string {
  const lines: string[] = [verdicts[verdict]]
  const clear = [...samples, ...graders].filter(
    ({ change }) => change === 'worse' || change === 'better',
  )
  for (const { text } of clear) lines.push(`${text}.`)
  const noisy = samples.filter(({ change }) => change === 'noise').length
  for (const { text } of suspects.slice(0, mostSuspects)) lines.push(`${text}.`)
  if (suspects.length > mostSuspects)
    lines.push(`${suspects.length - mostSuspects} more samples are like these.`)
  const others = noisy - suspects.length
  if (others > 0)
    lines.push(
      `${others} ${others === 1 ? 'sample differs' : 'samples differ'} by no more than chance; more trials would tell.`,
    )
  const apart = samples.filter(({ change }) => isApart.has(change)).length
  if (apart > 0) lines.push(`${apart} samples cannot be compared.`)
  return lines.join('\n')
}

/** Suspects that the summary names. */
const mostSuspects = 10

const isApart: ReadonlySet<string> = new Set(['changed', 'added', 'removed', 'unscored'])
