/** Tries the regular expressions of a run's graders before the run begins: a wrong one would fail every trial. */
import type { Grader } from '@steward/protocol/graders.ts'
import { invalid } from '../../ground/core/errors.ts'
import type { MatchText } from './text-matchers.ts'

export const flagsOf = ({ ignore_case }: { ignore_case: boolean }): string =>
  ignore_case ? 'isu' : 'su'

/** Refuses the first expression that is none, or that takes too long even for an empty answer. */
export async function checkExpressions(
  graders: readonly Grader[],
  match: MatchText,
  at = 'graders',
): Promise<void> {
  for (const [index, grader] of graders.entries()) {
    if ('of' in grader) await checkExpressions(grader.of, match, `${at}.${index}.of`)
    if (grader.type !== 'text' || grader.op !== 'regex' || !grader.value) continue
    const tried = await match({ source: grader.value, flags: flagsOf(grader), text: '' })
    if (!tried.ok) throw invalid(`${at}.${index}.value: ${tried.message}`)
  }
}
