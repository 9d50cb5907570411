/** Inspections of a trial's session: its setup before the first message, and graders after the last turn. */
import { quoteWord } from '@steward/sandbox/quote-word.ts'
import type { Score } from '@steward/protocol/evals.ts'
import type { Grader, InspectingGrader } from '@steward/protocol/graders.ts'
import type { Sample } from '@steward/protocol/samples.ts'
import { parseObject } from '@steward/base/json-object.ts'
import type { Inspection } from '../../ground/database/tables/outcomes.ts'
import type { OutcomeRow } from '../../sessions/rows/outcomes.ts'
import { UngradableError } from './grade-trial.ts'

const setupMs = 300_000
const workingFolder = '/workspace'

export const isInspecting = (grader: Grader): grader is InspectingGrader =>
  grader.type === 'script' || grader.type === 'file' || grader.type === 'rubric'

/** The setup of a sample; undefined when it needs none. */
export function setupInspection({ files, setup_script }: Sample): Inspection | undefined {
  if (!files?.length && !setup_script) return undefined
  return {
    type: 'script',
    script: setup_script ?? null,
    files: (files ?? []).map(({ path, content }) => ({
      path: `${workingFolder}/${path}`,
      content: textIn(content),
    })),
    timeout_ms: setupMs,
  }
}

/** The text of a file. Creating the sample or the run replaced the file's id by it. */
function textIn(content: string | undefined): string {
  if (content === undefined) throw new Error('a sample or a grader is kept without its text')
  return content
}

export function graderInspection(grader: InspectingGrader): Inspection {
  switch (grader.type) {
    case 'rubric':
      return { type: 'rubric', content: textIn(grader.content) }
    case 'script': {
      const { command, timeout_ms } = grader
      return { type: 'script', script: command, files: [], timeout_ms }
    }
    case 'file':
      return { type: 'script', script: fileScript(grader), files: [], timeout_ms: 60_000 }
    default:
      return grader satisfies never
  }
}

function fileScript({ path, includes, sha256 }: Extract<InspectingGrader, { type: 'file' }>) {
  const file = quoteWord(path)
  const lines = [`test -f ${file} || { echo "there is no such file"; exit 1; }`]
  if (includes) {
    const is = `grep -qzF -e ${quoteWord(includes)} -- ${file}`
    lines.push(`${is} || { echo "the file does not have the text"; exit 1; }`)
  }
  if (sha256) {
    const is = `test "$(sha256sum < ${file} | cut -c1-64)" = ${sha256}`
    lines.push(`${is} || { echo "the file has another hash"; exit 1; }`)
  }
  return [...lines, 'echo "the file is as expected"'].join('\n')
}

/** The result of an inspection. */
export type EndedInspection = Pick<OutcomeRow, 'result' | 'explanation'>

/** The score of an inspection. Throws `UngradableError` when it has no verdict. */
export function scoreInspection(
  grader: InspectingGrader,
  ended: EndedInspection | undefined,
): Score {
  const { name } = grader
  const { result, explanation } = ended ?? {}
  const text = explanation ?? ''
  if (result === 'interrupted' || result === undefined)
    throw new UngradableError(`grader ${name}: it was interrupted`)
  const passed = result === 'satisfied'
  const score = (grader.type === 'script' && reportedScore(text)) || undefined
  if (score) return { grader: name, passed, ...score }
  return { grader: name, score: passed ? 1 : 0, passed, explanation: text.trim() }
}

/** The score in the last line of a script's output; undefined unless that line is such JSON. */
function reportedScore(output: string): Pick<Score, 'score' | 'explanation'> | undefined {
  const line = output.trimEnd().split('\n').at(-1) ?? ''
  if (!line.startsWith('{')) return undefined
  try {
    const { score, explanation } = parseObject(line)
    if (typeof score !== 'number' || score < 0 || score > 1) return undefined
    return { score, explanation: typeof explanation === 'string' ? explanation : output.trim() }
  } catch {
    return undefined
  }
}
