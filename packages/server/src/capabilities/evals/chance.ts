/** Statistics of the difference between two runs: can it be chance? */

/** Error rate: the share of comparisons of an unchanged agent that report a difference. */
export const errorRate = 0.02
/** Quantile of the normal distribution for an interval of 98 %. */
const z = 2.326
/** Bounds of the random rearrangements of one test. */
const mostRounds = 1_000
const fewestRounds = 400
/** Bound of the values that one test adds up. */
const mostSteps = 4_000_000

/** Scores of one sample in the baseline and in the run. */
export type ScorePair = { before: readonly number[]; now: readonly number[] }
type Interval = { difference: number; low: number; high: number }

const sum = (values: readonly number[]): number => values.reduce((total, each) => total + each, 0)
const mean = (values: readonly number[]): number => sum(values) / values.length

/**
 * The mean difference over the samples and its 98 % interval. Each sample counts one success and one failure more than
 * its trials had (Agresti and Caffo), so that few trials that agree give no certainty.
 */
export function computeInterval(pairs: readonly ScorePair[]): Interval {
  const difference = mean(pairs.map(({ before, now }) => mean(now) - mean(before)))
  const variance = sum(pairs.map(({ before, now }) => spread(before) + spread(now)))
  const reach = (z * Math.sqrt(variance)) / pairs.length
  return { difference, low: difference - reach, high: difference + reach }
}

/** The variance of the mean of scores between 0 and 1. */
function spread(scores: readonly number[]): number {
  const share = (sum(scores) + 1) / (scores.length + 2)
  return (share * (1 - share)) / (scores.length + 2)
}

/** Numbers between 0 and 1 that a seed determines (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/**
 * The probability of a difference as large as this one when the agent has not changed, by a permutation test: the
 * trials of each sample are distributed at random between baseline and run. Valid for any scores and number of trials.
 */
export function computeChance(pairs: readonly ScorePair[], random: () => number): number {
  const differing = pairs.filter(({ before, now }) => new Set([...before, ...now]).size > 1)
  if (differing.length === 0) return 1
  const shuffled = differing.map(({ before, now }) => ({
    scores: Float64Array.from([...before, ...now]),
    before: before.length,
    now: now.length,
    total: sum(before) + sum(now),
  }))
  const steps = sum(shuffled.map(({ scores }) => scores.length))
  const rounds = Math.max(fewestRounds, Math.min(mostRounds, Math.floor(mostSteps / steps)))
  const seen = Math.abs(sum(differing.map(({ before, now }) => mean(now) - mean(before))))
  let asLarge = 0
  for (let round = 0; round < rounds; round++) {
    let difference = 0
    for (const each of shuffled) difference += shuffleDifference(each, random)
    // The tolerance covers rounding: sums in another order differ in their last digits.
    if (Math.abs(difference) >= seen - 1e-9) asLarge++
  }
  return (asLarge + 1) / (rounds + 1)
}

type ShuffledScores = { scores: Float64Array; before: number; now: number; total: number }

/** Shuffles the scores; the first `before` scores then stand for the baseline. */
function shuffleDifference(
  { scores, before, now, total }: ShuffledScores,
  random: () => number,
): number {
  let first = 0
  for (let at = 0; at < before; at++) {
    const other = at + Math.floor(random() * (scores.length - at))
    const score = scores[other] ?? 0
    scores[other] = scores[at] ?? 0
    scores[at] = score
    first += score
  }
  return (total - first) / now - first / before
}

export type PassCounts = { passed: number; trials: number }

/**
 * Fisher's exact test with mid-p: the probability of counts further apart when both come from one agent, plus half the
 * probability of these counts. Without the half, few trials would never show a difference.
 */
export function exactChance(before: PassCounts, now: PassCounts): number {
  const passed = before.passed + now.passed
  const total = before.trials + now.trials
  const weight = (x: number) =>
    logChoose(before.trials, x) + logChoose(now.trials, passed - x) - logChoose(total, passed)
  const seen = weight(before.passed)
  let chance = 0
  for (let x = Math.max(0, passed - now.trials); x <= Math.min(before.trials, passed); x++)
    if (weight(x) <= seen + 1e-9) chance += Math.exp(weight(x))
  return Math.min(1, chance - Math.exp(seen) / 2)
}

/** Trials beyond this number are not worth their price. */
const mostTrials = 200

/**
 * The number of trials of each run from which on the same shares of passed trials would be significant among `family`
 * tests. Undefined where 200 trials would not do.
 */
export function decidingTrials(
  before: PassCounts,
  now: PassCounts,
  family: number,
): number | undefined {
  const of = ({ passed, trials }: PassCounts, n: number): PassCounts => ({
    passed: Math.round((passed / trials) * n),
    trials: n,
  })
  for (let n = Math.max(before.trials, now.trials) + 1; n <= mostTrials; n++)
    if (exactChance(of(before, n), of(now, n)) <= errorRate / family) return n
  return undefined
}

const logChoose = (n: number, k: number): number =>
  logFactorial(n) - logFactorial(k) - logFactorial(n - k)

function logFactorial(n: number): number {
  let total = 0
  for (let each = 2; each <= n; each++) total += Math.log(each)
  return total
}

/** The indexes of significant chances among all tests of a family, by Holm's correction. */
export function significantTests(chances: readonly number[]): ReadonlySet<number> {
  const order = chances.map((chance, index) => ({ chance, index }))
  order.sort((one, other) => one.chance - other.chance)
  const found = new Set<number>()
  for (const [rank, { chance, index }] of order.entries()) {
    if (chance > errorRate / (chances.length - rank)) break
    found.add(index)
  }
  return found
}
