/**
 * The tool with which an agent makes, lists, changes and deletes the automations of its session. A change happens in
 * the commit that stores the result of its call.
 */
import { automationLimits as limits } from '@steward/protocol/automations.ts'
import type { DeploymentSchedule } from '@steward/protocol/deployments.ts'
import { iso } from '@steward/base/time.ts'
import { z } from 'zod'
import type { AutomationRequest, SessionAutomations } from '../automations.ts'
import { objectSchema, textSchema } from './threads.ts'
import type { Tool, ToolResult } from './tool.ts'
import { textResult } from './tool.ts'

const Input = z.object({
  action: z.enum(['create', 'list', 'update', 'delete']),
  id: z.string().optional(),
  name: z.string().optional(),
  instructions: z.string().optional(),
  expression: z.string().optional(),
  timezone: z.string().optional(),
  run_at: z.string().optional(),
})
type Call = z.infer<typeof Input>

const input = objectSchema(
  {
    action: { type: 'string', enum: ['create', 'list', 'update', 'delete'] },
    id: textSchema('For update and delete: the id that create or list returned.'),
    name: {
      ...textSchema('For create: a short name.'),
      minLength: 1,
      maxLength: limits.nameCharacters,
    },
    instructions: {
      ...textSchema(
        'For create: what you are to do then. You read it in this conversation at each run.',
      ),
      minLength: 1,
      maxLength: limits.instructionCharacters,
    },
    expression: textSchema(
      'A cron expression of five fields, such as 0 9 * * 1-5. For create give this or run_at.',
    ),
    timezone: textSchema('The zone of the expression, such as Europe/Berlin. UTC when left out.'),
    run_at: textSchema(
      'The time of a single run, as ISO 8601 with its offset, such as 2026-05-01T09:00:00Z.',
    ),
  },
  ['action'],
)

/** The schedule that a call names, none, or the reason why it is refused. */
function scheduleOf({
  expression,
  timezone,
  run_at,
}: Call): DeploymentSchedule | undefined | string {
  if (run_at !== undefined) {
    if (expression !== undefined || timezone !== undefined)
      return 'run_at: give it alone, or expression and timezone'
    const at = /(Z|[+-]\d\d:?\d\d)$/i.test(run_at) ? Date.parse(run_at) : Number.NaN
    if (Number.isNaN(at)) return 'run_at: not a time as ISO 8601 with its offset'
    return { type: 'once', run_at: iso(at) }
  }
  if (expression !== undefined) return { type: 'cron', expression, timezone: timezone ?? 'UTC' }
  return timezone === undefined ? undefined : 'timezone: give the expression too'
}

/** The request of a call, or the reason why it is none. */
function requestOf(call: Call, event: string): AutomationRequest | string {
  const { action, id, name, instructions } = call
  const schedule = scheduleOf(call)
  if (typeof schedule === 'string') return schedule
  if (action === 'create') {
    if (name === undefined) return 'name: is required'
    if (instructions === undefined) return 'instructions: is required'
    if (!schedule) return 'expression: is required, or run_at'
    return { action, call: event, name, instructions, schedule }
  }
  if (id === undefined) return 'id: is required; list names the automations'
  if (action === 'delete') return { action, id }
  if (name === undefined && instructions === undefined && !schedule)
    return 'name: give it, or instructions, expression or run_at: nothing changes otherwise'
  return { action: 'update', id, name, instructions, schedule }
}

const shown = (value: object) => textResult(JSON.stringify(value))

async function runCall(
  automations: SessionAutomations,
  call: Call,
  event: string,
): Promise<ToolResult> {
  if (call.action === 'list') return shown({ automations: await automations.list() })
  const request = requestOf(call, event)
  const effect = typeof request === 'string' ? request : await automations.prepare(request)
  if (typeof effect === 'string') return textResult(effect, true)
  const { id, times, isPaused } = effect
  const next = isPaused ? null : (times?.next_ms ?? null)
  const result =
    call.action === 'delete'
      ? { id, deleted: true }
      : {
          id,
          ...(isPaused && { status: 'paused' }),
          ...(times && { next_run_at: next === null ? null : iso(next) }),
        }
  return { ...shown(result), effect }
}

export const automationsTool = (automations: SessionAutomations): Omit<Tool, 'permission'> => ({
  ...({ name: 'automations', runs: 'here', input: 'checked', repeat: 'safe' } as const),
  ...({ sandbox: 'unused', prepare() {} } as const),
  description: `Manages your automations: times at which you go on by yourself in this conversation, once or by a schedule, whether or not somebody writes. create needs name, instructions, and expression or run_at; update changes what you give; delete ends one. You have at most ${limits.perSession}; two runs of one lie at least ${limits.minutes} minutes apart, and a single run as far ahead. An automation that has run once stays until you delete it. Whoever uses this service sees them and may change them.`,
  input_schema: input,
  run: (given, { call = '' }) => runCall(automations, Input.parse(given), call),
})
