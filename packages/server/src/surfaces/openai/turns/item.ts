/** Events as items: messages, reasoning, and calls with their results. */
import type { ResultContent, UserContent } from '@steward/protocol/content.ts'
import type { EventOf, EventType, NewEvent } from '@steward/protocol/events.ts'
import type { OpenAIItem } from '@steward/protocol/openai/turns.ts'
import type { EventRow } from '../../../sessions/log/log.ts'
import { eventOf } from '../../../sessions/log/log.ts'
import { messageBetween, subagentCall } from './subagent-item.ts'
import type { LogOwner } from './turn.ts'
import { isOfCutAnswer } from './turn.ts'

/** Events that the agent puts out. Each has an index in the output of its turn. */
export const outputTypes = [
  'agent.message',
  'agent.thinking',
  'agent.tool_use',
  'agent.mcp_tool_use',
  'agent.custom_tool_use',
] as const satisfies readonly EventType[]

export const itemTypes = [
  ...outputTypes,
  'user.message',
  'user.custom_tool_result',
  'agent.thread_message_received',
] as const satisfies readonly EventType[]

export const resultTypes = [
  'agent.tool_result',
  'user.tool_result',
  'agent.mcp_tool_result',
  'user.custom_tool_result',
] as const satisfies readonly EventType[]

export const isOutput = (type: string): boolean => (outputTypes as readonly string[]).includes(type)
export const isResult = (type: string): boolean => (resultTypes as readonly string[]).includes(type)
export const isCall = (type: string): boolean => isOutput(type) && type.endsWith('tool_use')

/** The call that an event answers; undefined for any other event. */
export function answeredBy(event: NewEvent): string | undefined {
  switch (event.type) {
    case 'agent.tool_result':
    case 'user.tool_result':
      return event.tool_use_id
    case 'agent.mcp_tool_result':
      return event.mcp_tool_use_id
    case 'user.custom_tool_result':
      return event.custom_tool_use_id
    default:
      return undefined
  }
}

type ItemEventRow = Pick<EventRow, 'id' | 'type' | 'data' | 'created_at'>
type ItemContext = {
  turnId: string
  /** True when the turn has ended. */
  isOver: boolean
  /** The event behind a message of the agent that tells its phase; see `phaseTypes`. */
  behind?: Pick<EventRow, 'type' | 'data'> | undefined
  /** The event that answers the call. */
  result?: ItemEventRow | undefined
  owner: LogOwner
}

type ResultEvent = Extract<NewEvent, { is_error?: boolean | null }>

export function showItem(row: ItemEventRow, context: ItemContext): OpenAIItem {
  const event = eventOf(row)
  const base = { id: row.id, turn_id: context.turnId }
  switch (event.type) {
    case 'user.message':
      return {
        ...base,
        type: 'message',
        role: 'user',
        status: 'completed',
        phase: null,
        content: event.content.map(showInput),
      }
    case 'agent.message':
      return messageItem(
        base,
        event.content.map(({ text }) => text),
        endOf(context.behind),
      )
    case 'agent.thinking':
      return { ...base, type: 'reasoning', status: 'completed', summary: [] }
    case 'user.custom_tool_result':
      return {
        ...base,
        type: 'function_call_output',
        status: event.is_error ? 'failed' : 'completed',
        call_id: event.custom_tool_use_id,
        ...outcomeOf(event),
      }
    case 'agent.custom_tool_use':
      return {
        ...base,
        type: 'function_call',
        status: statusOf(context),
        call_id: event.id,
        name: event.name,
        arguments: argumentsOf(event.input),
      }
    case 'agent.mcp_tool_use':
      return {
        ...base,
        type: 'mcp_call',
        status: statusOf(context),
        server_label: event.mcp_server_name,
        name: event.mcp_tool_name,
        arguments: argumentsOf(event.input),
        ...outcomeOf(context.result && (eventOf(context.result) as ResultEvent)),
      }
    case 'agent.tool_use':
      return toolItem(base, event, { ...context, at: row.created_at })
    case 'agent.thread_message_received':
      return messageBetween(base, event, context.owner)
    default:
      throw new Error(`${row.type} is no item`)
  }
}

type ItemBase = { id: string; turn_id: string }
type CallArguments = Extract<OpenAIItem, { type: 'function_call' }>['arguments']
/** The input is read from JSON, so all its values are JSON. */
const argumentsOf = (input: Record<string, unknown>) => input as CallArguments

type MessageOutcome = Pick<Extract<OpenAIItem, { type: 'message' }>, 'status' | 'phase'>

/** The first of these events behind a message of the agent tells whether its model request goes on behind it. */
export const phaseTypes = [
  ...outputTypes,
  'session.warning',
  'span.model_request_end',
] as const satisfies readonly EventType[]

/** The last text of a model request is an answer; the others are remarks on the way. */
function endOf(behind: ItemContext['behind']): MessageOutcome {
  const phase = behind && isOutput(behind.type) ? 'commentary' : 'final_answer'
  return { phase, status: behind && isOfCutAnswer(behind) ? 'incomplete' : 'completed' }
}

export const messageItem = (
  base: ItemBase,
  texts: readonly string[],
  { status, phase }: MessageOutcome,
): OpenAIItem => ({
  ...base,
  type: 'message',
  role: 'assistant',
  status,
  phase,
  content: texts.map((text) => ({ type: 'output_text', text })),
})

export const reasoningItem = (
  base: ItemBase,
  status: 'in_progress' | 'incomplete',
): OpenAIItem => ({
  ...base,
  type: 'reasoning',
  status,
  summary: [],
})

function statusOf({ result, isOver }: ItemContext) {
  if (!result) return isOver ? 'incomplete' : 'in_progress'
  return (eventOf(result) as ResultEvent).is_error ? 'failed' : 'completed'
}

type ContentPart = Extract<OpenAIItem, { type: 'message' }>['content'][number]

export function showInput(block: UserContent): ContentPart {
  if (block.type === 'text') return { type: 'input_text', text: block.text }
  const { source } = block
  if (block.type === 'document')
    return {
      type: 'input_text',
      text: source.type === 'text' ? source.data : `[document ${block.title ?? ''}]`,
    }
  switch (source.type) {
    case 'base64':
      return { type: 'input_image', image_url: `data:${source.media_type};base64,${source.data}` }
    case 'url':
      return { type: 'input_image', image_url: source.url }
    case 'file':
      return { type: 'input_image', image_url: `file:${source.file_id}` }
    default:
      return { type: 'input_text', text: '[image]' }
  }
}

const textOf = (content: readonly ResultContent[] | null | undefined): string =>
  (content ?? []).map((block) => ('text' in block ? block.text : `[${block.type}]`)).join('\n')

/** The result of a call, as output or as error. */
function outcomeOf(result: ResultEvent | undefined): {
  output: string | null
  error: string | null
} {
  if (!result) return { output: null, error: null }
  const text = 'content' in result ? textOf(result.content) : ''
  return result.is_error ? { output: null, error: text } : { output: text, error: null }
}

type ToolUseEvent = EventOf<'agent.tool_use'>

function toolItem(
  base: ItemBase,
  event: ToolUseEvent,
  context: ItemContext & { at: string },
): OpenAIItem {
  if (event.name === 'web_search' || event.name === 'web_fetch')
    return searchItem(base, event, context)
  if (event.name === 'automations') return automationsItem(base, event, context)
  const result = context.result && (eventOf(context.result) as ResultEvent)
  const output = result ? outcomeOf(result).output : null
  return (
    subagentCall({ ...base, status: statusOf(context) }, { event, output, owner: context.owner }) ??
    commandItem(base, event, context)
  )
}

/** The name of the server whose call a built-in tool is shown as, where it is shown so. */
export const serverLabelOf = (tool: string): string => (tool === 'automations' ? tool : 'sandbox')

/** A call about automations has no kind of its own on this wire. */
const automationsItem = (
  base: ItemBase,
  event: ToolUseEvent,
  context: ItemContext,
): OpenAIItem => ({
  ...base,
  type: 'mcp_call',
  status: statusOf(context),
  server_label: serverLabelOf(event.name),
  name: event.name,
  arguments: argumentsOf(event.input),
  ...outcomeOf(context.result && (eventOf(context.result) as ResultEvent)),
})

function commandItem(
  base: ItemBase,
  event: EventOf<'agent.tool_use'>,
  context: ItemContext & { at: string },
): OpenAIItem {
  const { result, at } = context
  const { output, error } = outcomeOf(result && (eventOf(result) as ResultEvent))
  return {
    ...base,
    type: 'command_execution',
    status: statusOf(context),
    command: commandOf(event),
    cwd: null,
    output: output ?? error,
    exit_code: null,
    duration_ms: result ? Date.parse(result.created_at) - Date.parse(at) : null,
  }
}

/** The command line of a shell call. Calls of other tools are shown as a readable command. */
function commandOf({ name, input }: EventOf<'agent.tool_use'>): string {
  const { command, file_path, pattern, path } = input
  if (name === 'bash' && typeof command === 'string') return command
  const subject = [pattern, file_path, path].filter((each) => typeof each === 'string')
  return subject.length > 0 ? `${name} ${subject.join(' ')}` : `${name} ${JSON.stringify(input)}`
}

function searchItem(
  base: ItemBase,
  event: EventOf<'agent.tool_use'>,
  context: ItemContext,
): OpenAIItem {
  const { query = null, url = null } = event.input
  const status = statusOf(context)
  return {
    ...base,
    type: 'web_search_call',
    status: status === 'failed' ? 'incomplete' : status,
    action:
      event.name === 'web_search'
        ? { type: 'search', query, queries: null }
        : { type: 'open_page', url },
  }
}
