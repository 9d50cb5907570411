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
    subagent_id: z.string().nullable(),
    status: z.enum(['queued', 'in_progress', 'waiting', 'completed', 'failed', 'cancelled']),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    usage: OpenAIUsage.nullable(),
    created_at: UnixSeconds,
    started_at: UnixSeconds.nullable(),
    completed_at: UnixSeconds.nullable(),
  })
  .meta({ id: 'OpenAITurn', description: 'From a message to the end of what it brought about.' })
export type OpenAITurn = z.infer<typeof OpenAITurnShown>

const base = { id: z.string(), turn_id: z.string() }
const callStatus = z.enum(['in_progress', 'completed', 'failed', 'incomplete'])
const outputStatus = z.enum(['in_progress', 'completed', 'incomplete'])
const argumentsShown = z.record(z.string(), JsonValue)

export const OpenAIContentShown = z.discriminatedUnion('type', [
  z.object({ type: z.literal('input_text'), text: z.string() }),
  z.object({ type: z.literal('input_image'), image_url: z.string() }),
  z.object({ type: z.literal('output_text'), text: z.string() }),
])

const Message = z.object({
  ...base,
  type: z.literal('message'),
  role: z.enum(['user', 'assistant']),
  status: outputStatus,
  phase: z.enum(['commentary', 'final_answer']).nullable(),
  content: z.array(OpenAIContentShown),
})
const Reasoning = z.object({
  ...base,
  type: z.literal('reasoning'),
  status: outputStatus,
  summary: z.array(z.object({ type: z.literal('summary_text'), text: z.string() })),
})
const FunctionCall = z.object({
  ...base,
  type: z.literal('function_call'),
  status: callStatus,
  call_id: z.string(),
  name: z.string(),
  arguments: argumentsShown,
})
const FunctionCallOutput = z.object({
  ...base,
  type: z.literal('function_call_output'),
  status: callStatus,
  call_id: z.string(),
  output: JsonValue,
  error: z.string().nullable(),
})
const McpCall = z.object({
  ...base,
  type: z.literal('mcp_call'),
  status: callStatus,
  server_label: z.string(),
  name: z.string(),
  arguments: argumentsShown,
  output: JsonValue,
  error: JsonValue,
})
const CommandExecution = z.object({
  ...base,
  type: z.literal('command_execution'),
  status: callStatus,
  command: z.string(),
  cwd: z.string().nullable(),
  output: z.string().nullable(),
  exit_code: z.int().nullable(),
  duration_ms: z.number().nullable(),
})
const WebSearchCall = z.object({
  ...base,
  type: z.literal('web_search_call'),
  status: outputStatus,
  action: z.object({ type: z.string() }).loose().nullable(),
})

const words = z.array(z.object({ type: z.literal('output_text'), text: z.string() }))
const AgentMessage = z.object({
  ...base,
  type: z.literal('agent_message'),
  sender_agent_id: z.string(),
  recipient_agent_id: z.string(),
  content: words,
})
const CreateSubagentCall = z.object({
  ...base,
  type: z.literal('create_subagent_call'),
  status: callStatus,
  agent_id: z.string().describe('The subagent; empty until it is started.'),
  content: words,
  model: z.string().nullable(),
  reasoning_effort: z.null(),
})
const SendSubagentInputCall = z.object({
  ...base,
  type: z.literal('send_subagent_input_call'),
  status: callStatus,
  sender_agent_id: z.string(),
  recipient_agent_id: z.string(),
  content: words,
})
const WaitForSubagentsCall = z.object({
  ...base,
  type: z.literal('wait_for_subagents_call'),
  status: callStatus,
  sender_agent_id: z.string(),
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
    status: z.enum(['active', 'closed']),
    opened_at: UnixSeconds,
    closed_at: UnixSeconds.nullable(),
  })
  .meta({ id: 'OpenAISubagent', description: 'An agent that the agent of a session has started.' })
export type OpenAISubagent = z.infer<typeof OpenAISubagentShown>
