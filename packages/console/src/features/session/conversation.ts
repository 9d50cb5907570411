/** What was said and done, in the order of the log: messages, thinking, tool calls with their results, failures. */
import type { SessionEvent } from '../../lib/api/types.ts'
import { momentOf, threadOf, timeOf } from './moments.ts'
import type { LoggedPicture } from './texts.ts'
import { bytesOf, cutTextOf, imagesOf, lineOf, textOfContent } from './texts.ts'

type CallResult = {
  id: string
  text: string
  /** Of formats that have no scripts. */
  images: readonly LoggedPicture[]
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
  /** Since when it works, in ms since 1970: what its approval was waited for is no time of it. */
  from: number
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
  /** Whether the service has waited for a decision. */
  wasAsked: boolean
  /** Whether an interrupt has ended it. */
  isInterrupted: boolean
}

/** What is known of a summary that took the place of the older conversation. */
export type ShownCompaction = {
  /** Who wrote the summary; null for a shortened transcript. */
  strategy: string | null
  /** `threshold` or `overflow`; undefined where the page does not have its beginning. */
  reason: string | undefined
  /** What the model that wrote it has read and written, in tokens. */
  read: number | undefined
  written: number | undefined
  summary: string | undefined
  /** Messages for the model that the summary stands for, and that stayed as they were. */
  messages: { replaced: number; kept: number } | undefined
  /** Tokens of the next request, about. */
  tokens: { before: number; after: number } | undefined
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
  /** `ends`: what the failure has ended; undefined while the service goes on. */
  | { kind: 'failed'; id: string; text: string; at: string; ends: 'turn' | 'session' | undefined }
  | { kind: 'noted'; id: string; text: string; at: string }
  | { kind: 'compacted'; id: string; at: string; compaction: ShownCompaction }
  /** An event of a kind that has no look of its own. */
  | { kind: 'other'; id: string; type: string; text: string; at: string }

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
  const draft: TalkDraft = { items: [], calls: new Map(), closed: [], summary: {} }
  for (const event of events) addTo(draft, event)
  for (const call of draft.calls.values()) call.isAsking = asked.has(call.id)
  return draft.items
}

type TalkDraft = {
  items: TalkItem[]
  calls: Map<string, ToolCall>
  /** Calls that failed with the newest events: an interrupt closes what it ends right before it is in the log. */
  closed: ToolCall[]
  /** Of the summary that is being written. */
  summary: Partial<Pick<ShownCompaction, 'reason' | 'read' | 'written'>>
}

function addTo(draft: TalkDraft, event: SessionEvent): void {
  if (isResult(event)) return addResult(draft, event)
  if (isCall(event)) addCall(draft, event)
  else if (isRest(event)) noteAsked(draft, event)
  else addMoment(draft, event)
  draft.closed = []
}

/** What changes calls that are there, and what stands between them. */
function addMoment(draft: TalkDraft, event: SessionEvent): void {
  const { items, calls } = draft
  switch (event.type) {
    case 'user.tool_confirmation':
      noteDecision(draft, event)
      return
    case 'span.compaction_summarize_start':
      draft.summary = { reason: event.reason }
      return
    case 'span.compaction_summarize_end': {
      const { input_tokens: read, output_tokens: written } = event.model_usage
      if (!event.is_error) draft.summary = { ...draft.summary, read, written }
      return
    }
    case 'agent.thread_context_compacted':
      items.push(compactedItem(event, draft.summary))
      draft.summary = {}
      return
    case 'user.interrupt':
      for (const call of calls.values()) if (isReached(event, call)) call.isInterrupted = true
      for (const call of draft.closed) call.isInterrupted = true
      items.push({ kind: 'noted', id: event.id, text: 'interrupted', at: timeOf(event) })
      return
    default: {
      const item = plainItem(event)
      if (item) items.push(item)
    }
  }
}

type RestEvent = Extract<
  SessionEvent,
  { type: 'session.status_idle' | 'session.thread_status_idle' }
>

const isRest = (event: SessionEvent): event is RestEvent =>
  event.type === 'session.status_idle' || event.type === 'session.thread_status_idle'

function noteAsked({ calls }: TalkDraft, event: RestEvent): void {
  for (const id of askedIn(event)) {
    const known = calls.get(id)
    if (known) known.wasAsked = true
  }
}

function noteDecision(
  { calls }: TalkDraft,
  event: Extract<SessionEvent, { type: 'user.tool_confirmation' }>,
): void {
  const known = calls.get(event.tool_use_id)
  if (!known) return
  known.from = momentOf(event)
  known.decision = {
    isAllowed: event.result === 'allow',
    reason: event.deny_message ?? undefined,
    at: timeOf(event),
  }
}

/** The calls that a thread asks about when it rests. */
const askedIn = ({ stop_reason: reason }: RestEvent): readonly string[] =>
  reason.type === 'requires_action' ? reason.event_ids : []

/** An interrupt of one thread ends the calls of that thread alone. */
const isReached = (event: SessionEvent, { result, thread }: ToolCall): boolean =>
  result === undefined && (threadOf(event) === undefined || threadOf(event) === thread)

const compactedItem = (
  event: Extract<SessionEvent, { type: 'agent.thread_context_compacted' }>,
  { reason, read, written }: TalkDraft['summary'],
): TalkItem => ({
  kind: 'compacted',
  id: event.id,
  at: timeOf(event),
  compaction: {
    strategy: event.strategy ?? null,
    reason,
    read,
    written,
    summary: event.summary,
    messages: event.messages,
    tokens: event.tokens,
  },
})

function addCall({ items, calls }: TalkDraft, event: AgentCallEvent): void {
  const call: ToolCall = {
    id: event.id,
    name: event.name,
    input: event.input,
    from: momentOf(event),
    thread: threadOf(event),
    isCut: bytesOf(event) > 0,
    result: undefined,
    decision: undefined,
    isAsking: false,
    isCustom: event.type === 'agent.custom_tool_use',
    server: event.type === 'agent.mcp_tool_use' ? event.mcp_server_name : undefined,
    wasAsked: false,
    isInterrupted: false,
  }
  calls.set(event.id, call)
  const last = items.at(-1)
  if (last?.kind === 'tools') last.calls.push(call)
  else items.push({ kind: 'tools', id: event.id, calls: [call] })
}

const usedBy = (event: CallResultEvent): string => {
  if (event.type === 'agent.mcp_tool_result') return event.mcp_tool_use_id
  return event.type === 'user.custom_tool_result' ? event.custom_tool_use_id : event.tool_use_id
}

function addResult({ calls, closed }: TalkDraft, event: CallResultEvent): void {
  const known = calls.get(usedBy(event))
  if (!known) return
  if (event.is_error) closed.push(known)
  known.result = {
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
    case 'session.error': {
      const { message, retry_status: next } = event.error
      return { kind: 'failed', id, text: message, at, ends: endOf[next.type] }
    }
    case 'session.status_terminated':
      return { kind: 'noted', id, text: 'ended', at }
    case 'session.warning':
      return { kind: 'noted', id, text: event.message, at }
    case 'agent.thread_message_sent':
    case 'agent.thread_message_received':
      return { kind: 'told', id, ...toldOf(event), text: textOfContent(event.content), at }
    default:
      return isQuiet(event.type)
        ? undefined
        : { kind: 'other', id, type: event.type, text: lineOf(event), at }
  }
}

const endOf = { retrying: undefined, exhausted: 'turn', terminal: 'session' } as const

/** What the page shows elsewhere: by states, figures, the timeline, and the messages that it changes. */
const quietFamilies = ['session.status_', 'session.thread_', 'span.', 'aux.']
const quietTypes: ReadonlySet<string> = new Set([
  ...['session.updated', 'session.usage', 'session.deleted', 'session.allowances_changed'],
  ...['session.environment_build', 'system.user_message_cancelled', 'system.user_message_changed'],
  ...['agent.advisor_tool_use', 'agent.advisor_tool_result'],
])

const isQuiet = (type: string): boolean =>
  quietTypes.has(type) || quietFamilies.some((family) => type.startsWith(family))

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

const callTypes: ReadonlySet<string> = new Set([
  ...['agent.tool_use', 'agent.mcp_tool_use', 'agent.custom_tool_use'],
])

const isCall = (event: SessionEvent): event is AgentCallEvent => callTypes.has(event.type)

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
    if (isRest(event)) for (const id of askedIn(event)) asked.add(id)
  }
  return asked
}
