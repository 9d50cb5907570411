/** Deployments: agents that run on a schedule, or by hand. */
import { z } from 'zod'
import { SessionBudget } from './budgets.ts'
import { checkText } from './content.ts'
import { exampleIds } from './example-ids.ts'
import { SystemMessage, UserMessage } from './events.ts'
import { AgentParams } from './multiagent.ts'
import { DefineOutcome } from './outcomes.ts'
import {
  ArchivedAt,
  CreatedAt,
  CreatedAtQuery,
  Flag,
  Id,
  Line,
  ListQuery,
  Metadata,
  MetadataPatch,
  Timestamp,
  UpdatedAt,
  includeArchived,
} from './primitives.ts'
import { Resource, VaultIds } from './sessions.ts'
import type { SkillRefs } from './agents.ts'
import type { Tools } from './tools.ts'

const DeploymentEvent = z.discriminatedUnion('type', [UserMessage, DefineOutcome, SystemMessage])
export type DeploymentEvent = z.infer<typeof DeploymentEvent>

const InitialEvents = z
  .array(DeploymentEvent)
  .min(1)
  .max(50)
  .superRefine((events, context) => {
    checkText(
      events.map((event) => ('content' in event ? event : {})),
      context,
    )
    for (const [index, event] of events.entries())
      if (event.type === 'system.message' && events[index - 1]?.type !== 'user.message')
        context.addIssue({
          code: 'custom',
          path: [index],
          message: 'system.message stands directly behind a user.message',
        })
    if (events.length > 0 && events.every(({ type }) => type === 'system.message'))
      context.addIssue({ code: 'custom', message: 'need a message or an outcome' })
  })
  .refine(
    (events) => events.filter(({ type }) => type === 'user.define_outcome').length <= 1,
    'may define one outcome',
  )
  .describe('Posted in this order to each session that the deployment creates.')

const DeploymentResource = Resource
export type DeploymentResource = z.infer<typeof DeploymentResource>

/**
 * The fields of a cron expression. Each holds a number, `*` or a range, the last two with an optional step, or a list
 * of these.
 */
const fields = [
  { name: 'minute', least: 0, most: 59 },
  { name: 'hour', least: 0, most: 23 },
  { name: 'day of the month', least: 1, most: 31 },
  { name: 'month', least: 1, most: 12 },
  { name: 'day of the week', least: 0, most: 7 },
] as const

type CronField = (typeof fields)[number]

/** The reason why the text is no item of the field, or undefined for a valid item. */
function itemFault({ name, least, most }: CronField, item: string): string | undefined {
  const found = /^(?:\*|(\d{1,2})(-\d{1,2})?)(?:\/(\d{1,2}))?$/.exec(item)
  if (!found)
    return `${name}: ${JSON.stringify(item.slice(0, 32))} is no *, number or range; names, @daily, L, W, # and ? are not supported`
  const [, first, range, step] = found
  const from = Number(first ?? least)
  const to = range === undefined ? from : Number(range.slice(1))
  if (from < least || to > most || to < from)
    return `${name}: must lie between ${least} and ${most}, and a range must rise`
  const isMany = first === undefined || range !== undefined
  if (step !== undefined && (Number(step) < 1 || !isMany))
    return `${name}: a step of 1 or more follows * or a range`
  return undefined
}

/** The reason why the text is no expression of five fields, or undefined for a valid expression. */
function cronFault(expression: string): string | undefined {
  const parts = expression.trim().split(/[ \t]+/)
  if (parts.length !== fields.length)
    return 'must have five fields: minute, hour, day of the month, month, day of the week'
  return fields
    .flatMap((field, index) =>
      (parts[index] ?? '').split(',').map((item) => itemFault(field, item)),
    )
    .find((fault) => fault !== undefined)
}

function isTimezone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

export const CronScheduleParams = z
  .strictObject({
    type: z.literal('cron'),
    expression: Line.min(1)
      .max(256)
      .superRefine((text, context) => {
        const fault = cronFault(text)
        if (fault) context.addIssue({ code: 'custom', message: fault })
      })
      .describe(
        'Minute, hour, day of the month, month and day of the week, as POSIX has them; 0 and 7 are Sunday.',
      ),
    timezone: Line.max(64)
      .refine(isTimezone, 'must be the name of a time zone, such as Europe/Berlin or UTC')
      .describe('The zone whose clock the expression is about.'),
    clock_changes: z
      .literal('run_once', {
        error: "must be 'run_once', or left out",
      })
      .optional()
      .describe(
        'Extension. `run_once`: a time that the clock skips runs at the next that it shows, one that it shows twice runs at the first.',
      ),
  })
  .meta({
    id: 'CronScheduleParams',
    description:
      'Times on the clock of a zone. Without `clock_changes` a time that the clock skips is skipped; one that it shows twice runs twice.',
  })
export type CronSchedule = z.infer<typeof CronScheduleParams>
/** `once` is a single time; `/openai/v1` creates such deployments. */
export type DeploymentSchedule = CronSchedule | { type: 'once'; run_at: string }

const Agent = z
  .union([Id, AgentParams])
  .describe('The id of an agent, which pins its newest version, or an object with a version.')
const description = Line.max(4096).nullish()
const budget = SessionBudget.nullish().describe('Most that one session may cost.')
const Resources = z.array(DeploymentResource).max(500)
const Name = Line.min(1).max(256).describe('What people call the deployment.')

export const DeploymentCreate = z
  .strictObject({
    name: Name,
    agent: Agent,
    environment_id: Id,
    initial_events: InitialEvents,
    description,
    metadata: Metadata.nullish(),
    resources: Resources.nullish().describe('What each session works on.'),
    vault_ids: VaultIds.nullish().describe(
      'Vaults of each session; the first that has a credential wins.',
    ),
    budget,
    schedule: CronScheduleParams.nullish().describe('Runs by hand alone when absent or null.'),
  })
  .meta({
    id: 'DeploymentCreateParams',
    examples: [
      {
        name: 'Morning report',
        agent: exampleIds.agent,
        environment_id: exampleIds.environment,
        initial_events: [
          { type: 'user.message', content: [{ type: 'text', text: 'Write the report.' }] },
        ],
        schedule: { type: 'cron', expression: '0 9 * * 1-5', timezone: 'Europe/Berlin' },
      },
    ],
  })
export type DeploymentCreate = z.infer<typeof DeploymentCreate>

export const DeploymentUpdate = z
  .strictObject({
    name: Name.optional(),
    agent: Agent.optional(),
    environment_id: Id.optional(),
    initial_events: InitialEvents.optional(),
    description: description.describe('Null or an empty text clears it.'),
    metadata: MetadataPatch.nullish(),
    resources: Resources.nullish().describe('Replaces all of them, with their tokens.'),
    vault_ids: VaultIds.nullish().describe('Replaces all of them.'),
    budget: budget.describe('Null clears it.'),
    schedule: CronScheduleParams.nullish().describe('Null: the deployment runs by hand alone.'),
  })
  .meta({ id: 'DeploymentUpdateParams', examples: [{ schedule: null }] })
export type DeploymentUpdate = z.infer<typeof DeploymentUpdate>

/** The input of each session that a deployment creates. Tokens are stored elsewhere. */
export type DeploymentSpec = {
  initial_events: DeploymentEvent[]
  resources: DeploymentResource[]
  vault_ids: string[]
  budget: SessionBudget | null
  /** The session that each run posts to. When undefined, each run creates a session. */
  session_id?: string | undefined
  /** The session whose agent has made the deployment, and the call that did. Undefined: somebody else did. */
  made_by?: { session: string; call: string } | undefined
  /** Values that replace those of the agent. */
  overrides?:
    | {
        tools: Tools
        skills: SkillRefs
        metadata: Record<string, string>
        /** The folder of the outputs below `/workspace`, in place of `/mnt/session/outputs`. */
        outputsPath?: string
      }
    | undefined
}

/** Errors that pause a deployment until a person mends the cause. */
export const pausingErrors = [
  'environment_archived_error',
  'agent_archived_error',
  'environment_not_found_error',
  'vault_not_found_error',
  'file_not_found_error',
  'session_resource_not_found_error',
  'workspace_archived_error',
  'organization_disabled_error',
  'memory_store_archived_error',
  'skill_not_found_error',
  'vault_archived_error',
  'unknown_error',
  'self_hosted_resources_unsupported_error',
  'mcp_egress_blocked_error',
] as const
export const runErrors = [
  ...pausingErrors,
  'session_rate_limited_error',
  'session_creation_rejected_error',
] as const
export type PausingError = (typeof pausingErrors)[number]
export type RunErrorType = (typeof runErrors)[number]
export type RunError = { type: RunErrorType; message: string }
export type DeploymentPausedReason =
  | { type: 'manual' }
  | { type: 'error'; error: { type: PausingError } }

const AgentShown = z.object({
  type: z.literal('agent'),
  id: z.string(),
  version: z.int().describe('The version that is pinned.'),
})

export const DeploymentShown = z
  .object({
    id: z.string(),
    type: z.literal('deployment'),
    name: z.string(),
    description: z.string().nullable(),
    agent: AgentShown.describe('The agent at the version that is pinned.'),
    environment_id: z.string(),
    initial_events: z.array(DeploymentEvent).describe('As they were sent.'),
    resources: z.array(DeploymentResource).describe('As they were sent, without tokens.'),
    vault_ids: z.array(z.string()).describe('In the order of their precedence.'),
    metadata: z.record(z.string(), z.string()),
    schedule: z
      .object({
        type: z.literal('cron'),
        expression: z
          .string()
          .describe('Minute, hour, day of the month, month and day of the week.'),
        timezone: z.string().describe('The zone whose clock the expression is about.'),
        clock_changes: z
          .literal('run_once')
          .optional()
          .describe('Extension. As it was sent, else absent.'),
        last_run_at: Timestamp.nullable().describe('When the last scheduled run started.'),
        upcoming_runs_at: z
          .array(Timestamp)
          .describe(
            'Up to five times, and none once the deployment is archived. A run starts a little later than its time, by the same part of the interval each time.',
          ),
      })
      .nullable()
      .describe('When the deployment runs by itself. Null: by hand alone.'),
    status: z.enum(['active', 'paused']).describe('A paused deployment runs by hand alone.'),
    paused_reason: z
      .union([
        z.object({ type: z.literal('manual') }),
        z.object({
          type: z.literal('error'),
          error: z.object({ type: z.enum(pausingErrors) }).describe('The error of that run.'),
        }),
      ])
      .nullable()
      .describe('Null unless the deployment is paused. `error`: its last run could not start.'),
    budget: SessionBudget.nullable(),
    archived_at: ArchivedAt,
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  })
  .meta({ id: 'Deployment', description: 'An agent with everything that a session needs.' })
export type Deployment = z.infer<typeof DeploymentShown>

export const triggerTypes = ['schedule', 'manual', 'webhook'] as const
export type TriggerType = (typeof triggerTypes)[number]

export const DeploymentRunShown = z
  .object({
    id: z.string(),
    type: z.literal('deployment_run'),
    deployment_id: z.string(),
    agent: AgentShown.describe('As the deployment pinned it when it ran.'),
    trigger_context: z
      .discriminatedUnion('type', [
        z.object({
          type: z.literal('manual'),
        }),
        z.object({
          type: z.literal('schedule'),
          scheduled_at: Timestamp.describe('The time of the schedule, before its jitter.'),
        }),
        z.object({
          type: z.literal('webhook'),
          webhook_id: z.string().describe('The `webhook-id` of the signed request.'),
        }),
      ])
      .describe('What has started the run.'),
    session_id: z.string().nullable(),
    error: z
      .object({ type: z.enum(runErrors), message: z.string() })
      .nullable()
      .describe('Why no session was created. Null where `session_id` is not.'),
    created_at: CreatedAt,
  })
  .meta({
    id: 'DeploymentRun',
    description: 'One attempt to run a deployment. It does not say what became of the session.',
  })
export type DeploymentRun = z.infer<typeof DeploymentRunShown>

export const DeploymentListQuery = ListQuery.extend({
  'created_at[gte]': CreatedAtQuery.shape['created_at[gte]'],
  'created_at[lte]': CreatedAtQuery.shape['created_at[lte]'],
  agent_id: z.string().optional().describe('Only deployments of this agent.'),
  status: z
    .enum(['active', 'paused'])
    .optional()
    .describe('Only deployments in this state; not together with `include_archived`.'),
  include_archived: includeArchived,
})

export const DeploymentRunListQuery = ListQuery.extend({
  ...CreatedAtQuery.shape,
  deployment_id: z.string().optional().describe('Only runs of this deployment.'),
  has_error: Flag.optional().describe('Only runs with an error, or only those without.'),
  trigger_type: z.enum(triggerTypes).optional().describe('Only runs that were started so.'),
})
