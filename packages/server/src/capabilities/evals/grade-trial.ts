/** Graders that need only the last message and the events of a trial. */
import { includesText } from '@steward/base/occurrences.ts'
import type { Score } from '@steward/protocol/evals.ts'
import type {
  EventsGrader,
  Grader,
  InspectingGrader,
  SimpleGrader,
  TextGrader,
} from '@steward/protocol/graders.ts'
import type { JsonValue } from '@steward/protocol/primitives.ts'
import type { z } from 'zod'
import { flagsOf } from './expressions.ts'
import type { MatchText } from './text-matchers.ts'

/** The part of a trial that graders see. `counts`: numbers of events by type, and by type and tool. */
export type TrialEvidence = {
  answer: string
  expected: z.infer<typeof JsonValue> | undefined
  counts: ReadonlyMap<string, number>
}

/** A grader that cannot judge. The trial gets an error and no score. */
export class UngradableError extends Error {}

type GraderScore = Omit<Score, 'grader'>

/** Characters of a value that an explanation quotes. */
const mostQuoted = 500

export const countKey = (type: string, name?: string | null): string =>
  name === undefined || name === null ? type : `${type} ${name}`

type PlainGrader = Exclude<Grader, InspectingGrader>

export async function gradeTrial(
  grader: PlainGrader,
  trial: TrialEvidence,
  match: MatchText,
): Promise<Score> {
  return { grader: grader.name, ...(await findingOf(grader, trial, match)) }
}

async function findingOf(
  grader: PlainGrader,
  trial: TrialEvidence,
  match: MatchText,
): Promise<GraderScore> {
  switch (grader.type) {
    case 'text':
    case 'events':
      return judge(grader, trial, match)
    case 'all':
    case 'any':
    case 'weighted': {
      const parts: Score[] = []
      for (const each of grader.of)
        parts.push({ grader: each.name, ...(await judge(each, trial, match)) })
      return joinScores(grader, parts)
    }
    default:
      return grader satisfies never
  }
}

type JoinGrader = Extract<Grader, { of: unknown }>

/** Joins the scores of several graders into one. */
export function joinScores(grader: JoinGrader, parts: readonly Score[]): GraderScore {
  const explanation = parts
    .map((part) => `${part.grader}: ${part.passed ? 'passed' : 'failed'} (${part.explanation})`)
    .join('; ')
  const scores = parts.map(({ score }) => score)
  if (grader.type === 'all')
    return { score: Math.min(...scores), passed: parts.every(({ passed }) => passed), explanation }
  if (grader.type === 'any')
    return { score: Math.max(...scores), passed: parts.some(({ passed }) => passed), explanation }
  const weight = grader.weights.reduce((sum, each) => sum + each, 0)
  const sum = grader.weights.reduce((total, each, at) => total + each * (scores[at] ?? 0), 0)
  const score = sum / weight
  return { score, passed: score >= grader.threshold, explanation }
}

const judge = async (
  grader: SimpleGrader,
  trial: TrialEvidence,
  match: MatchText,
): Promise<GraderScore> =>
  grader.type === 'text' ? judgeText(grader, trial, match) : judgeEvents(grader, trial)

const verdict = (passed: boolean, explanation: string): GraderScore => ({
  score: passed ? 1 : 0,
  passed,
  explanation,
})

async function judgeText(
  grader: TextGrader,
  { answer, expected }: TrialEvidence,
  matchText: MatchText,
): Promise<GraderScore> {
  const { name, op, ignore_case } = grader
  const value = grader.value ?? textOf(expected)
  if (value === undefined)
    throw new UngradableError(`grader ${name}: it has no value, and the sample expects nothing`)
  const found = op === 'json_path' ? atPointer(answer, grader.path ?? '') : answer
  if (found === undefined)
    return verdict(false, `the answer is no JSON with ${grader.path ?? '/'}: ${quoted(answer)}`)
  const fold = (text: string) => (ignore_case ? text.toLowerCase() : text)
  const [seen, wanted] = [fold(found), fold(value)]
  if (op === 'regex') {
    const match = await matchText({ source: value, flags: flagsOf(grader), text: found })
    if (!match.ok) throw new UngradableError(`grader ${name}: ${match.message}`)
    const verb = match.isMatch ? 'matches' : 'does not match'
    return verdict(match.isMatch, `${quoted(found)} ${verb} /${value}/`)
  }
  if (op === 'includes') {
    const passed = includesText(seen, wanted)
    const verb = passed ? 'includes' : 'does not include'
    return verdict(passed, `${quoted(found)} ${verb} ${quoted(value)}`)
  }
  const passed = seen.trim() === wanted.trim()
  return verdict(passed, `${quoted(found)} ${passed ? 'equals' : 'is not'} ${quoted(value)}`)
}

const quoted = (text: string): string =>
  JSON.stringify(text.length > mostQuoted ? `${text.slice(0, mostQuoted)}…` : text)

/** A string as it is, any other value as JSON. */
const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' || value === undefined ? value : JSON.stringify(value)

/** The value at a JSON pointer of a JSON text; undefined when the text is no JSON or has no such value. */
function atPointer(text: string, pointer: string): string | undefined {
  try {
    let value: unknown = JSON.parse(text)
    for (const part of pointer.split('/').slice(1)) {
      const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name))
        return undefined
      value = Reflect.get(value, name)
    }
    return textOf(value)
  } catch (error) {
    // RangeError: the JSON is nested too deeply.
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined
    throw error
  }
}

function judgeEvents({ expect }: EventsGrader, { counts }: TrialEvidence): GraderScore {
  const lines = expect.map(({ type, name, min, max }) => {
    const count = counts.get(countKey(type, name)) ?? 0
    const fits = count >= min && (max === undefined || max === null || count <= max)
    return { fits, text: `${count} of ${countKey(type, name)}` }
  })
  const fitting = lines.filter(({ fits }) => fits).length
  const explanation = lines.map(({ fits, text }) => (fits ? text : `${text}, unfit`)).join('; ')
  return {
    score: fitting / lines.length,
    passed: fitting === lines.length,
    explanation,
  }
}
