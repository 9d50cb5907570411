/**
 * The tool with which an agent continues at a later time, without a message. The session wakes the agent; no process
 * waits.
 */
import { dayMs } from '@steward/base/settings/kinds.ts'
import { iso } from '@steward/base/time.ts'
import { wakeupLimits } from '@steward/protocol/wakeups.ts'
import { z } from 'zod'
import { objectSchema, textSchema } from './threads.ts'
import type { Tool, ToolResult } from './tool.ts'
import { textResult } from './tool.ts'

const { days, noteCharacters } = wakeupLimits
const mostSeconds = (days * dayMs) / 1000

const Input = z.object({
  after_seconds: z.number().optional(),
  at: z.string().optional(),
  note: z.string(),
})

const input = objectSchema(
  {
    after_seconds: {
      type: 'integer',
      minimum: 1,
      maximum: mostSeconds,
      description: 'Seconds from now. Give this or at.',
    },
    at: textSchema(
      'The time, as ISO 8601 with its offset, such as 2026-05-01T09:00:00Z. Give this or after_seconds.',
    ),
    note: {
      ...textSchema('What you are to do then. You read it when you are woken.'),
      maxLength: noteCharacters,
    },
  },
  ['note'],
)

const withOffset = /(Z|[+-]\d\d:?\d\d)$/i

/** The time in milliseconds, or the reason why there is none. */
function timeOf({ after_seconds, at }: z.infer<typeof Input>, now: number): number | string {
  if ((after_seconds === undefined) === (at === undefined))
    return 'give one of after_seconds and at'
  if (after_seconds !== undefined) return now + after_seconds * 1000
  const time = withOffset.test(at ?? '') ? Date.parse(at ?? '') : Number.NaN
  if (Number.isNaN(time)) return 'at: not a time as ISO 8601 with its offset'
  if (time <= now) return `at: is past; it is ${iso(now)} now`
  return time > now + days * dayMs ? `at: may be ${days} days ahead at most` : time
}

export const wakeupTool = (now: () => number): Omit<Tool, 'permission'> => ({
  ...({ name: 'schedule_wakeup', runs: 'here', input: 'checked', repeat: 'safe' } as const),
  ...({ sandbox: 'unused', prepare() {} } as const),
  description: `Schedules a time at which you go on by yourself, at most ${days} days ahead: to look again at something that takes long, or to do something at a time. It returns at once. End your turn then; you are woken with your note at the time. You have one such time: a second call replaces it. Whoever interrupts you cancels it.`,
  input_schema: input,
  run: async (given): Promise<ToolResult> => {
    const call = Input.parse(given)
    const at = timeOf(call, now())
    if (typeof at === 'string') return textResult(at, true)
    const result = textResult(JSON.stringify({ wakeup_at: iso(at) }))
    return { ...result, effect: { kind: 'wake', at, note: call.note } }
  },
})
