/** Events as answers show them: a component of the published description for each type. */
import { z } from 'zod'
import { ResultContent, TextBlock, UserContent } from './content.ts'
import type { EventType } from './events.ts'
import { extensionTypes } from './events.ts'
import type { EventDescription } from './shown-thread-events.ts'
import { stop_reason, threadEvents } from './shown-thread-events.ts'
import { compactionEvents } from './shown-compaction.ts'
import { lightFields } from './light-events.ts'
import { finalResults } from './outcomes.ts'
import { packageManagers } from './packages.ts'
import { SessionErrorShown } from './session-errors.ts'
import { SessionBudget } from './budgets.ts'
import { waitingMessageEvents } from './shown-waiting-messages.ts'
import { wakeupEvents } from './wakeups.ts'
import { CreatedAt, JsonValue, Timestamp, extension } from './primitives.ts'

const id = z.string()
const content = <S extends z.ZodType>(block: S) => z.array(block)
const ofThread = {
  session_thread_id: z
    .string()
    .nullish()
    .describe('On the stream of the session: the child thread that the event belongs to.'),
}
const called = id.describe('The id of the event that made the call.')
const asked = id.describe('The id of the event with which the request began.')
const isError = z.boolean().describe('Whether the request has failed.')
const result = {
  content: content(ResultContent).nullish().describe('What the model reads.'),
  is_error: z.boolean().nullish().describe('Whether the call has failed.'),
  ...ofThread,
}
const input = z.record(z.string(), z.unknown()).describe('As the model wrote it.')
const call = {
  ...ofThread,
  name: z.string(),
  input,
  evaluated_permission: z
    .enum(['allow', 'ask', 'deny'])
    .optional()
    .describe('`ask`: the call waits for a `user.tool_confirmation`.'),
  evaluation: z
    .union([
      z.object({ type: z.enum(['always_allow', 'always_ask']) }),
      z.object({
        type: z.literal('auto'),
        evaluated_permission: z
          .object({
            type: z.literal('ask'),
            reason_code: z.literal('indeterminate'),
          })
          .describe('What the policy has decided.'),
      }),
    ])
    .optional()
    .describe('The permission policy by which the call was judged.'),
  executed_by: z
    .literal('worker')
    .optional()
    .meta(extension('A worker runs the call and posts its `user.tool_result`.')),
}
const count = z.int()
const model_usage = z
  .object({
    input_tokens: count.describe('Tokens that the model read, cached ones excepted.'),
    output_tokens: count.describe('Tokens that the model wrote.'),
    cache_creation_input_tokens: count.describe('Tokens that were written to a cache.'),
    cache_read_input_tokens: count.describe('Tokens that were read from a cache.'),
  })
  .meta({ id: 'SpanModelUsage', description: 'Tokens of one request to the model.' })

const evaluation = {
  outcome_id: id.describe('The id of the outcome.'),
  iteration: count.describe('Counts evaluations from 0.'),
}

/** Every event of the log. `says` tells when the event comes. */
const kept: { [T in EventType]: EventDescription<T> } = {
  'user.message': {
    says: 'A posted message is taken up; while it waits, `processed_at` is null.',
    fields: () =>
      z.object({ content: content(UserContent).describe('Text, images and documents, in order.') }),
  },
  'user.interrupt': {
    says: 'Somebody has stopped the turn.',
    fields: () => z.object(ofThread),
  },
  'user.tool_confirmation': {
    says: 'Somebody has allowed or denied a call.',
    fields: () =>
      z.object({
        tool_use_id: called,
        result: z.enum(['allow', 'deny']).describe('Whether the call runs.'),
        deny_message: z.string().nullish().describe('What the model reads of a denied call.'),
        ...ofThread,
      }),
  },
  'user.custom_tool_result': {
    says: 'A client has answered the call of a custom tool.',
    fields: () =>
      z.object({
        custom_tool_use_id: called,
        closed_by: z
          .literal('service')
          .optional()
          .meta(extension('The service has closed the call; no client can answer it any more.')),
        ...result,
      }),
  },
  'user.tool_result': {
    says: 'A worker has answered the call of a built-in tool.',
    fields: () => z.object({ tool_use_id: called, ...result }),
  },
  'system.message': {
    says: 'Instructions were added in the middle of the conversation.',
    fields: () => z.object({ content: content(TextBlock).describe('The instructions.') }),
  },
  'user.define_outcome': {
    says: 'An outcome was defined. The work towards it begins.',
    fields: () =>
      z.object({
        outcome_id: id.describe('The id of the outcome.'),
        description: z.string(),
        rubric: z
          .object({ type: z.literal('text'), content: z.string().describe('The criteria.') })
          .describe('The text, also of a rubric that came from a file.'),
        max_iterations: count.describe('Evaluations at most.'),
      }),
  },
  'agent.message': {
    says: 'The model has written a message.',
    fields: () => z.object({ content: content(TextBlock).describe('The whole message.') }),
  },
  'agent.thinking': {
    says: 'The model has thought.',
    fields: () => z.object({ thinking: z.string().describe('The whole block of thinking.') }),
  },
  'agent.tool_use': {
    says: 'The model calls a built-in tool.',
    fields: () => z.object(call),
  },
  'agent.tool_result': {
    says: 'The call of a built-in tool has ended.',
    fields: () => z.object({ tool_use_id: called, ...result }),
  },
  'agent.advisor_tool_use': {
    says: 'The model asks its advisor.',
    fields: () => z.object(call),
  },
  'agent.advisor_tool_result': {
    says: 'The advisor has answered, or has failed.',
    fields: () => z.object({ tool_use_id: called, ...result }),
  },
  'agent.mcp_tool_use': {
    says: 'The model calls a tool of an MCP server.',
    fields: () =>
      z.object({
        ...call,
        mcp_server_name: z.string().describe('The name of the MCP server.'),
        mcp_tool_name: z.string().describe('The name that the server gives the tool.'),
      }),
  },
  'agent.mcp_tool_result': {
    says: 'The call of a tool of an MCP server has ended.',
    fields: () => z.object({ mcp_tool_use_id: called, ...result }),
  },
  'agent.custom_tool_use': {
    says: 'The model calls a custom tool; a client answers with `user.custom_tool_result`.',
    fields: () => z.object({ name: z.string(), input, ...ofThread }),
  },
  ...compactionEvents,
  ...threadEvents,
  'session.status_run_started': {
    says: 'A run was queued.',
    fields: () => z.object({ workspace_id: id }),
  },
  'session.status_running': { says: 'A run has begun or goes on.', fields: () => z.object({}) },
  'session.status_rescheduled': {
    says: 'The model will be asked again.',
    fields: () => z.object({}),
  },
  'session.status_terminated': {
    says: 'The session has ended for good.',
    fields: () => z.object({}),
  },
  'session.status_idle': {
    says: 'The turn has ended. No event of the turn follows.',
    fields: () => z.object({ stop_reason, stop_details: z.null().describe('Always null.') }),
  },
  'session.error': {
    says: 'Something has failed.',
    fields: () => z.object({ error: SessionErrorShown }),
  },
  'session.updated': {
    says: 'Title, metadata or agent of the session have changed.',
    fields: () =>
      z.object({
        title: z.string().nullish(),
        metadata: z.record(z.string(), z.string()).optional(),
        agent: z
          .looseObject({})
          .optional()
          .describe('The whole agent that the session runs from now on.'),
        budget: SessionBudget.nullish(),
      }),
  },
  'session.usage': {
    says: 'Totals of the session, directly before `session.status_idle`.',
    fields: () =>
      z.object({
        usage: z.looseObject({}).describe('As `usage` of the session.'),
        budget: SessionBudget.nullable(),
      }),
  },
  'session.deleted': { says: 'The session was deleted.', fields: () => z.object({}) },
  'span.model_request_start': { says: 'The model is asked.', fields: () => z.object({}) },
  'span.model_request_end': {
    says: 'The model has answered, or the request has failed.',
    fields: () => z.object({ model_request_start_id: asked, is_error: isError, model_usage }),
  },
  'span.compaction_summarize_start': {
    says: 'A summary of the older conversation is being written.',
    fields: () =>
      z.object({
        strategy: z
          .string()
          .describe('How the summary is written: `compaction_strategy` of the agent.'),
        reason: z
          .string()
          .describe(
            '`threshold`: the conversation is long. `overflow`: the model refused it as too long.',
          ),
      }),
  },
  'span.compaction_summarize_end': {
    says: 'The summary is written, or could not be written.',
    fields: () =>
      z.object({
        compaction_summarize_start_id: asked,
        is_error: isError,
        model_usage,
        message: z.string().optional().describe('Why there is no summary.'),
      }),
  },
  'span.outcome_evaluation_start': {
    says: 'The grader judges the work.',
    fields: () => z.object(evaluation),
  },
  'span.outcome_evaluation_ongoing': {
    says: 'The grader is still at work.',
    fields: () => z.object(evaluation),
  },
  'span.outcome_evaluation_end': {
    says: 'The work is judged, or the outcome has ended without.',
    fields: () =>
      z.object({
        ...evaluation,
        outcome_evaluation_start_id: id.describe('Empty where the evaluation had not begun.'),
        result: z
          .enum([...finalResults, 'needs_revision'])
          .describe('`needs_revision`: the agent works on. Any other result ends the outcome.'),
        explanation: z.string().describe('What the grader has found.'),
        usage: model_usage,
      }),
  },
  'aux.model_call': {
    says: 'The grader has asked the model. What was said is not kept.',
    fields: () =>
      z.object({
        purpose: z.literal('outcome_evaluation'),
        outcome_evaluation_start_id: asked,
        is_error: isError,
        model_usage,
      }),
  },
  'session.allowances_changed': {
    says: 'People have allowed tools for this session, or taken that back.',
    fields: () => z.object({ tools: z.array(z.string()).describe('All that are allowed now.') }),
  },
  'session.warning': {
    says: 'The service has something to report that ends no turn.',
    fields: () =>
      z.object({
        reason: z.string().describe('A word for programs, such as `turn_recovered`.'),
        message: z.string(),
        event_ids: z.array(z.string()).optional().describe('The events that it is about.'),
      }),
  },
  'session.environment_build': {
    says: 'The packages of the environment are being installed.',
    fields: () =>
      z.object({
        state: z
          .enum(['waiting', 'running', 'done', 'failed'])
          .describe('`waiting`: another process installs the same packages.'),
        manager: z
          .enum(packageManagers)
          .nullable()
          .describe('The package manager that runs; null while waiting.'),
        lines: z.array(z.string()).describe('What the package manager said last.'),
      }),
  },
  ...waitingMessageEvents,
  ...wakeupEvents,
}

/** The name that the official client gives to the type: `SessionStatusIdleEvent`, `AgentMCPToolUseEvent`. */
export const clientEventName = (type: string): string =>
  `${type
    .split(/[._]/)
    .map((word) => (word === 'mcp' ? 'MCP' : word.charAt(0).toUpperCase() + word.slice(1)))
    .join('')}Event`

const position = {
  session_id: id.meta(extension('The session of the event.')),
  created_at: CreatedAt.meta(extension('When the event was created.')),
  processed_at: Timestamp.nullable().describe('When the session took it up; null until then.'),
  seq: z
    .int()
    .nullable()
    .meta(extension('Place in the log, from 1 without a gap; null while the event has none.')),
  data: z
    .record(z.string(), JsonValue)
    .optional()
    .meta(extension('The fields of the type once more; absent with `anthropic-version`.')),
  ...lightFields,
}

const describeKept = () =>
  Object.entries(kept).map(([type, { says, fields }]) =>
    z.looseObject({ id, type: z.literal(type), ...fields().shape, ...position }).meta({
      id: clientEventName(type),
      description: says,
      ...(extensionTypes.some((extended) => extended === type) ? { 'x-extension': true } : {}),
    }),
  )

/** Builds a schema when the description is first asked for: a server without that request saves the memory. */
export const lazySchema = <S extends z.ZodType>(make: () => S) => {
  let made: S | undefined
  return z.lazy(() => (made ??= make()))
}

/**
 * An event on the wire: flat fields. The interface's dialect repeats the fields under `data`. [events/object]
 * [dialects/event-data]
 */
export const EventShown = lazySchema(() => z.union(describeKept())).meta({
  id: 'SessionEvent',
  description: 'Something that was said or done in a session.',
})
