/** The time that a report covers. */
import { invalid } from '../../ground/core/errors.ts'

type AskedSpan = { starting_at?: string | undefined; ending_at?: string | undefined }

/** Times are in milliseconds since the epoch. `usualMs`: the length of a span without a start. */
export function resolveSpan(
  { starting_at, ending_at }: AskedSpan,
  { now, usualMs }: { now: number; usualMs: number },
): { startMs: number; untilMs: number } {
  const untilMs = ending_at === undefined ? now : Date.parse(ending_at)
  const startMs = starting_at === undefined ? untilMs - usualMs : Date.parse(starting_at)
  return { startMs, untilMs }
}

export const emptySpan = ({ ending_at }: AskedSpan) =>
  invalid(
    ending_at === undefined
      ? 'starting_at: must lie before now, or go with an ending_at behind it'
      : 'ending_at: must be behind starting_at',
  )
