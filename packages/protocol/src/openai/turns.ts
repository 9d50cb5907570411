import { z } from 'zod'
import { JsonValue } from '../primitives.ts'
import { UnixSeconds } from './lists.ts'
import { OpenAIUsage } from './sessions.ts'

export const OpenAITurnShown = z
  .object({
    id: z.string(),
    object: z.literal('agent.session.turn'),
    session_id: z.string(),
    agent_id: z.string(),
    subagent_id: z
      .string()
      .nullable()
      .describe('The subagent whose turn it is; null for the agent of the session.'),
    status: z
      .enum(['queued', 'in_progress', 'waiting', 'completed', 'failed', 'cancelled'])
      .describe('`waiting`: a call waits for somebody.'),
    error: z
      .object({ code: z.string().describe('A word for programs.'), message: z.string() })
      .nullable()
      .describe('Why the turn has failed, or null.'),
    usage: OpenAIUsage.nullable(),
    created_at: UnixSeconds,
    started_at: UnixSeconds.nullable().describe('When it began, in seconds since 1970, or null.'),
    completed_at: UnixSeconds.nullable().describe('When it ended, in seconds since 1970, or null.'),
  })
  .meta({ id: 'OpenAITurn', description: 'From a message to the end of what it brought about.' })
export type OpenAITurn = z.infer<typeof OpenAITurnShown>

const base = { id: z.string(), turn_id: z.string() }
const callStatus = z
  .enum(['in_progress', 'completed', 'failed', 'incomplete'])
  .describe('`incomplete`: the call was ended before its result.')
const outputStatus = z
  .enum(['in_progress', 'completed', 'incomplete'])
  .describe('`incomplete`: it was ended before it was whole.')
const argumentsShown = z.record(z.string(), JsonValue).describe('As the model wrote them.')

export const OpenAIContentShown = z.discriminatedUnion('type', [
  z.object({ type: z.literal('input_text'), text: z.string() }),
  z.object({
    type: z.literal('input_image'),
    image_url: z.string().describe('The address of the image, or a data URL.'),
  }),
  z.object({ type: z.literal('output_text'), text: z.string() }),
])

const Message = z.object({
  ...base,
  type: z.literal('message'),
  role: z.enum(['user', 'assistant']).describe('Who has written the message.'),
  status: outputStatus,
  phase: z
    .enum(['commentary', 'final_answer'])
    .nullable()
    .describe(
      '`commentary` for a text of the agent that its model request goes on behind, else `final_answer`. Null for the user, and until the message is whole.',
    ),
  content: z.array(OpenAIContentShown).describe('Texts and images, in order.'),
})
const Reasoning = z.object({
  ...base,
  type: z.literal('reasoning'),
  status: outputStatus,
  summary: z
    .array(z.object({ type: z.literal('summary_text'), text: z.string() }))
    .describe('Always empty: thinking has no summary.'),
})
const FunctionCall = z.object({
  ...base,
  type: z.literal('function_call'),
  status: callStatus,
  call_id: z.string().describe('Name it in the result of the call.'),
  name: z.string(),
  arguments: argumentsShown,
})
const FunctionCallOutput = z.object({
  ...base,
  type: z.literal('function_call_output'),
  status: callStatus,
  call_id: z.string().describe('The `call_id` of the call.'),
  output: JsonValue.describe('What the model reads.'),
  error: z.string().nullable().describe('Why the call has failed, or null.'),
})
const McpCall = z.object({
  ...base,
  type: z.literal('mcp_call'),
  status: callStatus,
  server_label: z.string().describe('The name of the MCP server.'),
  name: z.string(),
  arguments: argumentsShown,
  output: JsonValue.describe('What the model reads; null until the call has ended.'),
  error: JsonValue.describe('Why the call has failed, or null.'),
})
const CommandExecution = z.object({
  ...base,
  type: z.literal('command_execution'),
  status: callStatus,
  command: z.string().describe('The command, or the name of another built-in tool with its input.'),
  cwd: z.string().nullable().describe('Always null.'),
  output: z.string().nullable().describe('What it wrote, or null.'),
  exit_code: z.int().nullable().describe('Its exit code, or null.'),
  duration_ms: z.number().nullable().describe('Milliseconds that it took, or null.'),
})
const WebSearchCall = z.object({
  ...base,
  type: z.literal('web_search_call'),
  status: outputStatus,
  action: z
    .object({ type: z.string() })
    .loose()
    .nullable()
    .describe('What was searched or fetched, or null.'),
})

const words = z
  .array(z.object({ type: z.literal('output_text'), text: z.string() }))
  .describe('What was said.')
const sender = z.string().describe('The agent that has sent the message.')
const recipient = z.string().describe('The agent that gets the message.')
const AgentMessage = z.object({
  ...base,
  type: z.literal('agent_message'),
  sender_agent_id: sender,
  recipient_agent_id: recipient,
  content: words,
})
const CreateSubagentCall = z.object({
  ...base,
  type: z.literal('create_subagent_call'),
  status: callStatus,
  agent_id: z.string().describe('The subagent; empty until it is started.'),
  content: words,
  model: z.string().nullable().describe('The model of the subagent, or null.'),
  reasoning_effort: z.null().describe('Always null.'),
})
const SendSubagentInputCall = z.object({
  ...base,
  type: z.literal('send_subagent_input_call'),
  status: callStatus,
  sender_agent_id: sender,
  recipient_agent_id: recipient,
  content: words,
})
const WaitForSubagentsCall = z.object({
  ...base,
  type: z.literal('wait_for_subagents_call'),
  status: callStatus,
  sender_agent_id: sender,
  recipient_agent_ids: z.array(z.string()).describe('Empty where it waits for all of them.'),
})

export const OpenAIItemShown = z
  .discriminatedUnion('type', [
    Message,
    Reasoning,
    FunctionCall,
    FunctionCallOutput,
    McpCall,
    CommandExecution,
    WebSearchCall,
    AgentMessage,
    CreateSubagentCall,
    SendSubagentInputCall,
    WaitForSubagentsCall,
  ])
  .meta({ id: 'OpenAIItem', description: 'What a turn holds: messages, calls and their results.' })
export type OpenAIItem = z.infer<typeof OpenAIItemShown>

export const OpenAISubagentShown = z
  .object({
    id: z.string(),
    object: z.literal('agent.session.subagent'),
    session_id: z.string(),
    parent_agent_id: z.string().describe('The agent of the session.'),
    name: z.string(),
    instructions: words.nullable().describe('Its first message; null until it has read that.'),
    status: z
      .enum(['active', 'closed'])
      .describe('`closed`: the subagent or its session is archived.'),
    opened_at: UnixSeconds,
    closed_at: UnixSeconds.nullable().describe(
      'When it was closed, in seconds since 1970, or null.',
    ),
  })
  .meta({ id: 'OpenAISubagent', description: 'An agent that the agent of a session has started.' })
export type OpenAISubagent = z.infer<typeof OpenAISubagentShown>
