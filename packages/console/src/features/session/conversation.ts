/** What was said and done, in the order of the log: messages, thinking, tool calls with their results, failures. */
import type { SessionEvent } from '../../lib/api/types.ts'
import { momentOf, threadOf, timeOf } from './moments.ts'
import { bytesOf, cutTextOf, imagesOf, textOfContent } from './texts.ts'

type CallResult = {
  id: string
  text: string
  /** Pictures of the result, as data: of formats that have no scripts. */
  images: readonly string[]
  isError: boolean
  tookMs: number
  exitCode: number | undefined
  /** Whether it stands here cut. */
  isCut: boolean
}

export type ToolCall = {
  id: string
  name: string
  input: Record<string, unknown>
  at: string
  /** Of a child thread: its id. */
  thread: string | undefined
  /** Whether the input stands here cut. */
  isCut: boolean
  /** Missing while the tool works, or waits for an answer. */
  result: CallResult | undefined
  /** What somebody has decided about the call. */
  decision: { isAllowed: boolean; reason: string | undefined; at: string } | undefined
  /** Whether the service waits for a person to decide. */
  isAsking: boolean
  /** Whether a client has to give the result, in place of a decision. */
  isCustom: boolean
  /** Of a tool of an MCP server: the name of the server. */
  server: string | undefined
}

export type TalkItem =
  | {
      kind: 'said'
      id: string
      by: 'person' | 'agent' | 'system'
      text: string
      at: string
      /** The size of the whole where the text stands here cut, else 0. */
      wholeBytes: number
    }
  | { kind: 'thought'; id: string; text: string; at: string }
  /** What threads say to each other: `to` or `from` the named agent, or the primary thread. */
  | {
      kind: 'told'
      id: string
      way: 'to' | 'from'
      agent: string | undefined
      text: string
      at: string
    }
  | { kind: 'tools'; id: string; calls: ToolCall[] }
  | { kind: 'failed'; id: string; text: string; at: string; isFinal: boolean }
  | { kind: 'noted'; id: string; text: string; at: string }

type AgentCallEvent = Extract<
  SessionEvent,
  { type: 'agent.tool_use' | 'agent.mcp_tool_use' | 'agent.custom_tool_use' }
>
type CallResultEvent = Extract<
  SessionEvent,
  {
    type:
      | 'agent.tool_result'
      | 'agent.mcp_tool_result'
      | 'user.custom_tool_result'
      | 'user.tool_result'
  }
>

/** `asked`: the calls that wait, where `events` are those of one thread alone. */
export function talkOf(
  events: readonly SessionEvent[],
  asked: ReadonlySet<string> = openCallsOf(events),
): TalkItem[] {
  const items: TalkItem[] = []
  const calls = new Map<string, { call: ToolCall; from: number }>()
  for (const event of events) addTo(items, calls, event)
  for (const { call } of calls.values()) call.isAsking = asked.has(call.id)
  return items
}

function addTo(
  items: TalkItem[],
  calls: Map<string, { call: ToolCall; from: number }>,
  event: SessionEvent,
): void {
  switch (event.type) {
    case 'agent.tool_use':
    case 'agent.mcp_tool_use':
    case 'agent.custom_tool_use':
      return addCall(items, calls, event)
    case 'agent.tool_result':
    case 'agent.mcp_tool_result':
    case 'user.custom_tool_result':
    case 'user.tool_result':
      return addResult(calls, event)
    case 'user.tool_confirmation': {
      const known = calls.get(event.tool_use_id)
      if (known)
        known.call.decision = {
          isAllowed: event.result === 'allow',
          reason: event.deny_message ?? undefined,
          at: timeOf(event),
        }
      return
    }
    default: {
      const item = plainItem(event)
      if (item) items.push(item)
    }
  }
}

function addCall(
  items: TalkItem[],
  calls: Map<string, { call: ToolCall; from: number }>,
  event: AgentCallEvent,
): void {
  const call: ToolCall = {
    id: event.id,
    name: event.name,
    input: event.input,
    at: timeOf(event),
    thread: threadOf(event),
    isCut: bytesOf(event) > 0,
    result: undefined,
    decision: undefined,
    isAsking: false,
    isCustom: event.type === 'agent.custom_tool_use',
    server: event.type === 'agent.mcp_tool_use' ? event.mcp_server_name : undefined,
  }
  calls.set(event.id, { call, from: momentOf(event) })
  const last = items.at(-1)
  if (last?.kind === 'tools') last.calls.push(call)
  else items.push({ kind: 'tools', id: event.id, calls: [call] })
}

const usedBy = (event: CallResultEvent): string => {
  if (event.type === 'agent.mcp_tool_result') return event.mcp_tool_use_id
  return event.type === 'user.custom_tool_result' ? event.custom_tool_use_id : event.tool_use_id
}

function addResult(
  calls: Map<string, { call: ToolCall; from: number }>,
  event: CallResultEvent,
): void {
  const known = calls.get(usedBy(event))
  if (!known) return
  known.call.result = {
    id: event.id,
    text: cutTextOf(event),
    images: imagesOf(event.content ?? []),
    isError: event.is_error ?? false,
    tookMs: Math.max(0, momentOf(event) - known.from),
    exitCode: event.step?.exit_code,
    isCut: bytesOf(event) > 0,
  }
}

const said = (
  event: Extract<SessionEvent, { type: 'user.message' | 'system.message' | 'agent.message' }>,
  by: 'person' | 'agent' | 'system',
): TalkItem => ({
  kind: 'said',
  id: event.id,
  by,
  text: textOfContent(event.content),
  at: timeOf(event),
  wholeBytes: bytesOf(event),
})

/** The item of an event that stands alone; undefined for what the talk leaves out. */
function plainItem(event: SessionEvent): TalkItem | undefined {
  const { id } = event
  const at = timeOf(event)
  switch (event.type) {
    case 'user.message':
      return said(event, 'person')
    case 'system.message':
      return said(event, 'system')
    case 'agent.message':
      return said(event, 'agent')
    case 'agent.thinking':
      return { kind: 'thought', id, text: event.thinking, at }
    case 'session.error':
      return {
        kind: 'failed',
        id,
        text: event.error.message,
        at,
        isFinal: event.error.retry_status.type !== 'retrying',
      }
    case 'session.warning':
      return { kind: 'noted', id, text: event.message, at }
    case 'user.interrupt':
      return { kind: 'noted', id, text: 'interrupted', at }
    case 'agent.thread_message_sent':
    case 'agent.thread_message_received':
      return { kind: 'told', id, ...toldOf(event), text: textOfContent(event.content), at }
    case 'agent.thread_context_compacted':
      return { kind: 'noted', id, text: 'compacted', at }
    default:
      return undefined
  }
}

const toldOf = (
  event: Extract<
    SessionEvent,
    { type: 'agent.thread_message_sent' | 'agent.thread_message_received' }
  >,
) =>
  event.type === 'agent.thread_message_sent'
    ? ({ way: 'to', agent: event.to_agent_name } as const)
    : ({ way: 'from', agent: event.from_agent_name } as const)

const resultTypes: ReadonlySet<string> = new Set([
  ...['agent.tool_result', 'agent.mcp_tool_result'],
  ...['user.custom_tool_result', 'user.tool_result'],
])

const isResult = (event: SessionEvent): event is CallResultEvent => resultTypes.has(event.type)

/** The call that an event decides or ends. */
function answeredBy(event: SessionEvent): string | undefined {
  if (event.type === 'user.tool_confirmation') return event.tool_use_id
  return isResult(event) ? usedBy(event) : undefined
}

/** The calls of any thread that wait for a person: asked for by a thread that rests, and answered by nothing since. */
export function openCallsOf(events: readonly SessionEvent[]): ReadonlySet<string> {
  const asked = new Set<string>()
  for (const event of events) {
    if (event.type === 'session.status_terminated') asked.clear()
    const answered = answeredBy(event)
    if (answered !== undefined) asked.delete(answered)
    if (event.type !== 'session.status_idle' && event.type !== 'session.thread_status_idle')
      continue
    if (event.stop_reason.type === 'requires_action')
      for (const id of event.stop_reason.event_ids) asked.add(id)
  }
  return asked
}
