import { z } from 'zod'
import {
  ResultContent,
  TextBlock,
  UserContent,
  checkText,
  mostText,
  textLength,
  tooMuchText,
} from './content.ts'
import type { EvaluationResult } from './outcomes.ts'
import { DefineOutcome } from './outcomes.ts'
import type { PackageManager } from './packages.ts'
import type { SessionBudget } from './budgets.ts'
import type { WakeupEvents } from './wakeups.ts'
import { wakeupTypes } from './wakeups.ts'
import { Id } from './primitives.ts'
import { ofUnknownType, quoteValue } from './problems.ts'

export const UserMessage = z
  .strictObject({
    type: z.literal('user.message'),
    content: z.array(UserContent).min(1).describe('Text, images and documents, in order.'),
  })
  .meta({
    id: 'UserMessage',
    description: 'A message: it waits, and begins or joins the next turn.',
  })
const session_thread_id = z
  .string()
  .max(256)
  .nullish()
  .describe('The thread that is meant, as the event of the call names it.')
const Interrupt = z.strictObject({ type: z.literal('user.interrupt'), session_thread_id }).meta({
  id: 'UserInterruptEventParams',
  description: 'Stops the running turn.',
})
const Confirmation = z
  .strictObject({
    type: z.literal('user.tool_confirmation'),
    tool_use_id: Id.describe('The id of the `agent.tool_use` or `agent.mcp_tool_use` event.'),
    result: z
      .enum(['allow', 'deny'])
      .describe('`allow`: the call runs. `deny`: it is closed with an error result.'),
    deny_message: z
      .string()
      .max(10_000)
      .nullish()
      .describe('The model reads it; only with `deny`.'),
    session_thread_id,
  })
  .refine((event) => event.result === 'deny' || !event.deny_message, {
    path: ['deny_message'],
    message: 'must go with result deny',
  })
  .meta({
    id: 'UserToolConfirmationEventParams',
    description: 'Lets a call run, or denies it.',
  })
const answer = {
  content: z.array(ResultContent).nullish().describe('What the model reads.'),
  is_error: z.boolean().nullish().describe('Whether the call has failed.'),
  session_thread_id,
}
const CustomToolResult = z
  .strictObject({
    type: z.literal('user.custom_tool_result'),
    custom_tool_use_id: Id.describe('The id of the `agent.custom_tool_use` event.'),
    ...answer,
  })
  .meta({
    id: 'UserCustomToolResultEventParams',
    description: 'Answers the call of a custom tool.',
  })
const ToolResult = z
  .strictObject({
    type: z.literal('user.tool_result'),
    tool_use_id: z.string().max(256).describe('The id of the `agent.tool_use` event.'),
    ...answer,
  })
  .meta({
    id: 'UserToolResultEventParams',
    description: 'Answers the call of a built-in tool, from the worker that ran it.',
  })
export const SystemMessage = z
  .strictObject({
    type: z.literal('system.message'),
    content: z
      .array(TextBlock)
      .min(1)
      .max(1000)
      .describe('Texts that the model reads as instructions.'),
  })
  .meta({
    id: 'SystemMessageEventParams',
    description: 'Further instructions; it stands last, behind a message or a result.',
  })

/** Names the type that was sent, because a long list of expected types does not show the mistake. */
const unknownType = ofUnknownType((type) => `${quoteValue(type)} is no event that may be sent here`)

/** Events that a client posts. [events/post/unknown-type] */
export const ClientEvent = z.discriminatedUnion(
  'type',
  [
    UserMessage,
    Interrupt,
    Confirmation,
    CustomToolResult,
    ToolResult,
    SystemMessage,
    DefineOutcome,
  ],
  unknownType,
)
export type ClientEvent = z.infer<typeof ClientEvent>

/** A system message stands last, directly behind a message or a tool result. */
export const PostEvents = z
  .strictObject({
    events: z
      .array(ClientEvent)
      .min(1)
      .max(1000)
      .superRefine((events, context) => {
        for (const [index, event] of events.entries()) {
          if (event.type !== 'system.message') continue
          const before = events[index - 1]?.type
          const wrong =
            index !== events.length - 1
              ? 'stands last'
              : before === undefined ||
                  !/^user\.(message|tool_result|custom_tool_result)$/.test(before)
                ? 'stands directly behind a user.message or a tool result'
                : undefined
          if (wrong)
            context.addIssue({ code: 'custom', path: [index], message: `system.message ${wrong}` })
        }
      })
      .superRefine((events, context) =>
        checkText(
          events.map((event) => ('content' in event ? event : {})),
          context,
        ),
      )
      .superRefine((events, context) => {
        const second = events.filter(({ type }) => type === 'user.define_outcome')[1]
        if (second)
          context.addIssue({
            code: 'custom',
            path: [events.indexOf(second), 'type'],
            message: 'a request may define one outcome',
          })
      })
      .describe('Applied in order, all of them or none.'),
  })
  .meta({
    id: 'EventSendParams',
    examples: [{ events: [{ type: 'user.message', content: [{ type: 'text', text: 'Go on.' }] }] }],
  })

export const InitialEvent = z.discriminatedUnion('type', [UserMessage, DefineOutcome], unknownType)
export type InitialEvent = z.infer<typeof InitialEvent>

/** A string is one text block. [messages/content] */
export const PostMessage = z
  .strictObject({
    content: z
      .union([
        z
          .string()
          .min(1)
          .transform((text) => [{ type: 'text' as const, text }]),
        z.array(UserContent).min(1),
      ])
      .refine((content) => textLength(content) <= mostText, tooMuchText)
      .describe('A text, or blocks of content.'),
  })
  .meta({
    id: 'MessageCreateParams',
    'x-extension': true,
    examples: [{ content: 'Review the parser.' }],
  })

export type RetryStatus = { type: 'retrying' | 'exhausted' | 'terminal' }
export type SessionErrorType =
  | 'unknown_error'
  | 'model_overloaded_error'
  | 'model_rate_limited_error'
  | 'model_request_failed_error'
  | 'billing_error'
  | 'tool_use_limit_reached_error'
  | 'compaction_limit_reached_error'

/** A failure and the resource that it concerns. [events/type/error] */
export type SessionFailure = { message: string } & (
  | { type: SessionErrorType }
  | { type: McpErrorType; mcp_server_name: string }
  | { type: 'credential_host_unreachable_error'; vault_id: string; credential_id: string }
  | { type: RepositoryErrorType; repository_url: string | null }
)
export type SessionError = SessionFailure & { retry_status: RetryStatus }
export const repositoryErrorTypes = [
  'repository_authentication_error',
  'repository_forbidden_error',
  'repository_not_found_error',
  'repository_checkout_error',
  'repository_clone_error',
] as const
export type RepositoryErrorType = (typeof repositoryErrorTypes)[number]
export type McpErrorType = 'mcp_connection_failed_error' | 'mcp_authentication_failed_error'

export type StopReason =
  | { type: 'end_turn' }
  | { type: 'requires_action'; event_ids: string[] }
  | { type: 'retries_exhausted' }
  | { type: 'budget_reached' }
  | { type: 'refusal' }

type ToolUseFields = {
  name: string
  input: Record<string, unknown>
  evaluated_permission?: 'allow' | 'ask' | 'deny'
  evaluation?:
    | { type: 'always_allow' | 'always_ask' }
    | { type: 'auto'; evaluated_permission: { type: 'ask'; reason_code: 'indeterminate' } }
  /**
   * Present in a session on a self-hosted environment: the worker with the claim runs the call and posts
   * `user.tool_result`.
   */
  executed_by?: 'worker'
} & ThreadField
type ToolResultFields = ThreadField & {
  content?: ResultContent[] | null
  is_error?: boolean | null
}

type RequestUsage = {
  input_tokens: number
  output_tokens: number
  cache_creation_input_tokens: number
  cache_read_input_tokens: number
}

type EvaluationRef = { outcome_id: string; iteration: number }
type ThreadNameFields = { session_thread_id: string; agent_name: string }
/** The child thread of an event that the session's stream shows too. */
type ThreadField = { session_thread_id?: string | null }

/** Every event of a log by its type, with its fields. [events/field/type] */
export type EventFields = {
  'user.message': { content: UserContent[] }
  'user.interrupt': ThreadField
  'user.tool_confirmation': {
    tool_use_id: string
    result: 'allow' | 'deny'
    deny_message?: string | null
  } & ThreadField
  /** `closed_by`: no client answered the call, and no client can answer it any more. */
  'user.custom_tool_result': {
    custom_tool_use_id: string
    closed_by?: 'service'
  } & ToolResultFields
  'user.tool_result': { tool_use_id: string } & ToolResultFields
  'system.message': { content: z.infer<typeof TextBlock>[] }
  /** The rubric is stored as text, even when it came as a file. */
  'user.define_outcome': {
    outcome_id: string
    description: string
    rubric: { type: 'text'; content: string }
    max_iterations: number
  }
  'agent.message': { content: { type: 'text'; text: string }[] }
  'agent.thinking': { thinking: string }
  'agent.tool_use': ToolUseFields
  'agent.tool_result': { tool_use_id: string } & ToolResultFields
  /** A question to the advisor of the agent. People see the advisor's thread and its answer. */
  'agent.advisor_tool_use': ToolUseFields
  'agent.advisor_tool_result': { tool_use_id: string } & ToolResultFields
  /**
   * `name` is the tool's name for the model. `mcp_tool_name` is the tool's name on its server, and `mcp_server_name`
   * the server's name in the agent.
   */
  'agent.mcp_tool_use': ToolUseFields & { mcp_server_name: string; mcp_tool_name: string }
  'agent.mcp_tool_result': { mcp_tool_use_id: string } & ToolResultFields
  'agent.custom_tool_use': { name: string; input: Record<string, unknown> } & ThreadField
  /**
   * `strategy`: wrote the summary. Null when a shortened transcript replaces the summary. Events of earlier versions have
   * the strategy alone.
   */
  'agent.thread_context_compacted': {
    strategy: string | null
    summary?: string
    messages?: { replaced: number; kept: number }
    tokens?: { before: number; after: number }
  }
  /** A message of another thread of the session. The primary thread has no agent name. */
  'agent.thread_message_received': {
    from_session_thread_id: string
    from_agent_name?: string
    content: z.infer<typeof TextBlock>[]
  }
  'agent.thread_message_sent': {
    to_session_thread_id: string
    to_agent_name?: string
    content: z.infer<typeof TextBlock>[]
  }
  'session.thread_created': ThreadNameFields & { workflow_run_id: null }
  'session.thread_status_running': ThreadNameFields
  'session.thread_status_rescheduled': ThreadNameFields
  'session.thread_status_terminated': ThreadNameFields
  'session.thread_status_idle': ThreadNameFields & { stop_reason: StopReason; stop_details: null }
  'session.status_run_started': { workspace_id: string }
  'session.status_running': object
  'session.status_rescheduled': object
  'session.status_terminated': object
  'session.status_idle': { stop_reason: StopReason; stop_details: null }
  'session.error': { error: SessionError }
  'session.updated': {
    title?: string | null
    metadata?: Record<string, string>
    agent?: object
    budget?: SessionBudget | null
  }
  'session.usage': { usage: object; budget: SessionBudget | null }
  'session.deleted': object
  'span.model_request_start': object
  'span.model_request_end': {
    model_request_start_id: string
    is_error: boolean
    model_usage: RequestUsage
  }
  'span.compaction_summarize_start': { strategy: string; reason: string }
  /** `message`: the reason why there is no summary. */
  'span.compaction_summarize_end': {
    compaction_summarize_start_id: string
    is_error: boolean
    model_usage: RequestUsage
    message?: string
  }
  'span.outcome_evaluation_start': EvaluationRef
  'span.outcome_evaluation_ongoing': EvaluationRef
  /** `outcome_evaluation_start_id` is empty when the outcome ended before the evaluation began. */
  'span.outcome_evaluation_end': EvaluationRef & {
    outcome_evaluation_start_id: string
    result: EvaluationResult
    explanation: string
    usage: RequestUsage
  }
  /** A model request of the grader. Its texts are not stored. */
  'aux.model_call': {
    purpose: 'outcome_evaluation'
    outcome_evaluation_start_id: string
    is_error: boolean
    model_usage: RequestUsage
  }
  /** `tools`: all tools that the session uses without asking now. */
  'session.allowances_changed': { tools: string[] }
  'session.warning': { reason: string; message: string; event_ids?: string[] }
  /** `waiting`: another process builds the same installs. `lines`: the newest lines of the package manager's output. */
  'session.environment_build': {
    state: 'waiting' | 'running' | 'done' | 'failed'
    manager: PackageManager | null
    lines: string[]
  }
  'system.user_message_cancelled': { message_id: string; reason: string } & ThreadField
  'system.user_message_changed': {
    message_id: string
    content: { type: 'text'; text: string }[]
  } & ThreadField
} & WakeupEvents
export type EventType = keyof EventFields
export type EventOf<T extends EventType> = { id: string; type: T } & EventFields[T]
/** An event before the log gives it a number. */
export type NewEvent = { [T in EventType]: EventOf<T> }[EventType]

/** Stored events that are shown only on request: by `include=chunks`, by `types[]`, or in `/log`. */
export const extensionTypes: readonly EventType[] = [
  'session.allowances_changed',
  'session.warning',
  'session.environment_build',
  'system.user_message_cancelled',
  'system.user_message_changed',
  'span.compaction_summarize_start',
  'span.compaction_summarize_end',
  'aux.model_call',
  'agent.advisor_tool_use',
  'agent.advisor_tool_result',
  ...wakeupTypes,
]
