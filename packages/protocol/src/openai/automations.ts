/** Automations: agents that run once, or on a schedule. Each automation is a deployment. */
import { z } from 'zod'
import { CronScheduleParams } from '../deployments.ts'
import { exampleIds } from '../example-ids.ts'
import { Id, Line, Metadata } from '../primitives.ts'
import { OpenAIAgentCreate } from './agents.ts'
import { OpenAIEnvironmentParam } from './environments.ts'
import { OpenAIMessages } from './inputs.ts'
import { AfterQuery, UnixSeconds } from './lists.ts'
import { OpenAIContentShown } from './turns.ts'

const { expression, timezone } = CronScheduleParams.shape
const name = Line.min(1).max(256).describe('What people call the automation.')
const run_at = z
  .number()
  .min(0)
  .max(253_402_300_799)
  .describe('When it runs, in seconds since 1970.')
const text = z.string().min(1).max(100_000)

const NewSession = z
  .strictObject({
    type: z.literal('new_session'),
    agent_id: Id.optional().describe('A stored agent; its newest version is pinned.'),
    agent: OpenAIAgentCreate.omit({ metadata: true })
      .optional()
      .describe('An agent that is described here becomes an agent of the workspace.'),
    environment: OpenAIEnvironmentParam.describe('Where the sessions run their commands.'),
    input: OpenAIMessages.describe('Messages that begin each session.'),
    metadata: Metadata.nullish(),
    vault_ids: z
      .array(Id)
      .max(50)
      .nullish()
      .describe('Vaults of each session; the first that has a credential wins.'),
  })
  .refine(({ agent_id, agent }) => agent_id !== undefined || agent !== undefined, {
    path: ['agent_id'],
    message: 'is required, or `agent`',
  })
  .refine(({ agent_id, agent }) => agent_id === undefined || agent === undefined, {
    path: ['agent'],
    message: 'must not stand beside `agent_id`: change the stored agent',
  })
  .meta({ id: 'OpenAINewSessionParams', description: 'Each run creates a session.' })
const ExistingSession = z
  .strictObject({
    type: z.literal('existing_session'),
    session_id: Id,
    instructions: text.describe('The message of the user that each run posts.'),
  })
  .meta({ id: 'OpenAIExistingSessionParams', description: 'Each run posts to one session.' })
const Target = z.discriminatedUnion('type', [NewSession, ExistingSession])
export type OpenAITarget = z.infer<typeof Target>

const alike = {
  name,
  metadata: Metadata.optional(),
  target: Target.describe('What each run does.'),
}

export const OpenAIAutomationCreate = z
  .discriminatedUnion('type', [
    z
      .strictObject({ type: z.literal('periodic'), expression, timezone, ...alike })
      .meta({ id: 'OpenAIPeriodicParams', description: 'Runs at each time of a schedule.' }),
    z
      .strictObject({ type: z.literal('once'), run_at, ...alike })
      .meta({ id: 'OpenAIOnceParams', description: 'Runs once.' }),
  ])
  .meta({
    id: 'OpenAIAutomationCreateParams',
    examples: [
      {
        type: 'periodic',
        name: 'Morning report',
        expression: '0 9 * * 1-5',
        timezone: 'Europe/Berlin',
        target: {
          type: 'new_session',
          agent_id: exampleIds.agent,
          environment: { type: 'none' },
          input: [{ role: 'user', content: [{ type: 'input_text', text: 'Write the report.' }] }],
        },
      },
    ],
  })
export type OpenAIAutomationCreate = z.infer<typeof OpenAIAutomationCreate>

export const OpenAIAutomationUpdate = z
  .strictObject({
    name: name.optional(),
    metadata: Metadata.optional().describe('Replaced as a whole.'),
    expression: expression.optional(),
    timezone: timezone.optional(),
    run_at: run_at.optional(),
    target: Target.optional().describe('Replaced as a whole.'),
  })
  .meta({ id: 'OpenAIAutomationUpdateParams', examples: [{ name: 'Evening report' }] })
export type OpenAIAutomationUpdate = z.infer<typeof OpenAIAutomationUpdate>

const TargetShown = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('new_session'),
    agent: z.null().describe('Always null: an agent that was described is stored by now.'),
    agent_id: z.string(),
    environment: z
      .discriminatedUnion('type', [
        z.object({ type: z.literal('none') }),
        z.object({
          type: z.literal('openai_hosted'),
          environment_id: z.null(),
          environment_template_id: z.string().describe('The environment of the sessions.'),
          capability_directories: z.null().describe('Always null: see the environment.'),
          container_size: z.null().describe('Always null: see the environment.'),
          desktop: z.null().describe('Always null: see the environment.'),
          files: z.null().describe('Always null: see the environment.'),
          network: z.null().describe('Always null: see the environment.'),
          packages: z.null().describe('Always null: see the environment.'),
          plugins: z.null().describe('Always null: see the environment.'),
          skills: z.null().describe('Always null: see the environment.'),
        }),
      ])
      .describe('Where the sessions run their commands.'),
    input: z
      .array(
        z.object({
          type: z.literal('message'),
          role: z.literal('user'),
          content: z.array(OpenAIContentShown).describe('Texts and images, in order.'),
        }),
      )
      .describe('Messages that begin each session.'),
    metadata: z.record(z.string(), z.string()),
    vault_ids: z
      .array(z.string())
      .describe('Vaults of each session, in the order of their precedence.'),
  }),
  z.object({
    type: z.literal('existing_session'),
    session_id: z.string(),
    instructions: z.string().describe('The message that each run posts.'),
  }),
])
export type OpenAITargetShown = z.infer<typeof TargetShown>

const shown = {
  id: z.string(),
  object: z.literal('agent.automation'),
  name: z.string(),
  metadata: z.record(z.string(), z.string()),
  created_by: z
    .discriminatedUnion('type', [
      z.object({ type: z.literal('developer') }),
      z.object({
        type: z.literal('agent'),
        session_id: z.string().describe('The session of the agent.'),
        tool_call_id: z.string().describe('The call that has made the automation.'),
      }),
    ])
    .describe('A developer, or the agent of a session.'),
  created_at: UnixSeconds,
  target: TargetShown.describe('What each run does.'),
}

export const OpenAIAutomationShown = z
  .discriminatedUnion('type', [
    z.object({
      ...shown,
      type: z.literal('periodic'),
      expression: z.string().describe('Minute, hour, day of the month, month and day of the week.'),
      timezone: z.string().describe('The zone whose clock the expression is about.'),
      status: z.enum(['active', 'paused']).describe('A paused automation runs by hand alone.'),
    }),
    z.object({
      ...shown,
      type: z.literal('once'),
      run_at: UnixSeconds.describe('When it runs, in seconds since 1970.'),
      status: z.enum(['active', 'paused', 'completed']).describe('`completed`: it has run.'),
    }),
  ])
  .meta({ id: 'OpenAIAutomation', description: 'An agent that runs by itself.' })
export type OpenAIAutomation = z.infer<typeof OpenAIAutomationShown>

export const OpenAIAutomationListQuery = AfterQuery.extend({
  session_id: Id.optional().describe('Only automations that post to this session.'),
})

export const OpenAIInvocationShown = z
  .object({
    id: z.string(),
    object: z.literal('agent.automation.invocation'),
    automation_id: z.string().describe('The id of the automation.'),
    status: z.enum(['completed', 'failed']).describe('`failed`: nothing was begun.'),
    session_id: z.string().nullable(),
    scheduled_at: UnixSeconds.nullable().describe(
      'The time of the schedule, in seconds since 1970; null for a run by hand.',
    ),
    error: z
      .object({ code: z.string().describe('A word for programs.'), message: z.string() })
      .nullable()
      .describe('Why nothing was begun, or null.'),
    skip_reason: z.null().describe('Always null.'),
    source: z
      .discriminatedUnion('type', [
        z.object({ type: z.literal('manual') }),
        z.object({ type: z.literal('automation'), automation: OpenAIAutomationShown }),
      ])
      .describe('What has started the run.'),
    created_at: UnixSeconds,
  })
  .meta({ id: 'OpenAIInvocation', description: 'One run of an automation.' })
export type OpenAIInvocation = z.infer<typeof OpenAIInvocationShown>
