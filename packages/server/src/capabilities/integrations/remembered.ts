/** Answers of providers that hold for some minutes, in this process. */
import type { Clock } from '@steward/base/time.ts'

/** An undefined answer is not remembered. */
export type Remembered = <Answer>(
  key: string,
  find: () => Promise<Answer | undefined>,
) => Promise<Answer | undefined>

const minuteMs = 60_000
const mostKept = 5_000

export function rememberAnswers(clock: Clock, forMs = 5 * minuteMs): Remembered {
  const kept = new Map<string, { answer: unknown; untilMs: number }>()
  return async <Answer>(key: string, find: () => Promise<Answer | undefined>) => {
    const known = kept.get(key)
    if (known && known.untilMs > clock.now()) return known.answer as Answer
    const answer = await find()
    if (answer === undefined) return undefined
    kept.delete(key)
    kept.set(key, { answer, untilMs: clock.now() + forMs })
    // The oldest answer comes first.
    const [oldest] = kept.keys()
    if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest)
    return answer
  }
}
