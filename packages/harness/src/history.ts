/**
 * Builds model messages from stored events. Only this file does. The result is deterministic to the byte, so that
 * prompt caches match.
 */
import type { AssistantBlock, Message, MessageOrigin, UserBlock } from '@steward/model/model.ts'
import type { ResultContent } from '@steward/protocol/content.ts'
import type { EventOf, EventType } from '@steward/protocol/events.ts'
import { advisorName } from '@steward/protocol/multiagent.ts'
import { z } from 'zod'
import type { LoadMedia, RemoteMedia } from './content.ts'
import { loadAllMedia, modelBlocks, withBlocks } from './content.ts'
import type { KeptEvent } from './kept-event.ts'
import { outcomeText } from './outcomes.ts'
import { threadMessageText } from './threads.ts'
import { estimateMessageTokens, tokensOfBlock } from './tokens.ts'
import { wakeupText } from './wakeups.ts'

/** The event types that a history is built from. A reader of the log may leave out all others. */
export const historyTypes: readonly EventType[] = [
  'user.message',
  'system.message',
  'agent.thread_message_received',
  'user.define_outcome',
  'span.outcome_evaluation_end',
  'system.wakeup',
  'agent.message',
  'agent.thinking',
  'agent.tool_use',
  'agent.tool_result',
  'agent.advisor_tool_use',
  'agent.advisor_tool_result',
  'agent.mcp_tool_use',
  'agent.mcp_tool_result',
  'agent.custom_tool_use',
  'user.custom_tool_result',
  'user.tool_result',
  'agent.thread_context_compacted',
  'span.model_request_end',
]

/** The `opaque` of a stored event: data that the wire that wrote the event needs again. */
const OpaqueContent = z.object({
  origin: z.object({ provider: z.string(), api: z.string(), model: z.string() }),
  state: z.string().optional(),
  call_id: z.string().optional(),
  redacted: z.boolean().optional(),
})
export type OpaqueContent = z.infer<typeof OpaqueContent>

/** The `opaque` of a boundary: all messages that a model sees of the events before it. */
const BoundaryContent = z.object({ messages: z.custom<Message[]>(Array.isArray) })
export type BoundaryContent = z.infer<typeof BoundaryContent>

/** Size of the conversation in tokens. */
export type HistoryWeight = {
  /** Estimate for the whole conversation. */
  total: number
  /** The part of `total` that the newest boundary left. */
  base: number
  /** The provider's count for the newest request with its answer, and the value of `total` at that time. */
  counted: number | undefined
  at: number
}

const noWeight: HistoryWeight = { total: 0, base: 0, counted: undefined, at: 0 }

type HistoryCall = { eventId: string; callId: string; name: string; isOfAdvisor: boolean }
type ToolResultMessage = Extract<Message, { role: 'tool_result' }>

/** The last assistant message while results of its calls may still come, in any order. */
type OpenAnswer = {
  content: AssistantBlock[]
  origin: MessageOrigin
  calls: HistoryCall[]
  results: Map<string, ToolResultMessage>
  /** Messages that came before all results. */
  behind: Message[]
}

/**
 * Immutable for its users, and cheap to extend: the first `count` messages of `settled` are final, and the list after
 * them belongs to the history that extended it first.
 */
export type History = {
  readonly settled: Message[]
  readonly count: number
  readonly open: OpenAnswer | undefined
  /** Placeholder texts of content that is not loaded yet, see `resolveContent`. */
  readonly elsewhere: ReadonlyMap<UserBlock, RemoteMedia>
  readonly bytes: number
  readonly weight: HistoryWeight
}

export const emptyHistory = (): History => ({
  settled: [],
  count: 0,
  open: undefined,
  elsewhere: new Map(),
  bytes: 0,
  weight: noWeight,
})

/** An estimate in bytes, precise enough to bound a cache. */
export const sizeOf = (history: History): number => history.bytes

type HistoryDraft = {
  settled: Message[]
  count: number
  open: OpenAnswer | undefined
  elsewhere: Map<UserBlock, RemoteMedia>
  bytes: number
  weight: HistoryWeight
}

/** The history extended by these events. The cost depends on the events, not on the length of the history. */
export function foldHistory(history: History, kept: readonly KeptEvent[]): History {
  if (kept.length === 0) return history
  const { open } = history
  const draft: HistoryDraft = {
    ...history,
    elsewhere: new Map(history.elsewhere),
    weight: { ...history.weight },
    open: open && {
      ...open,
      content: [...open.content],
      calls: [...open.calls],
      results: new Map(open.results),
      behind: [...open.behind],
    },
  }
  for (const each of kept) fold(draft, each)
  return draft
}

/** Messages for a request: every call has exactly one result, directly after its message. */
export const buildMessages = ({ settled, count, open }: History): Message[] =>
  settled.slice(0, count).concat(open ? openMessages(open) : [])

/** Loads content that is referenced by URL or file id, each once. Call before a request. */
export async function resolveContent(history: History, bring: LoadMedia): Promise<History> {
  const { settled, count, open, elsewhere, bytes, weight } = history
  if (elsewhere.size === 0) return history
  const blocks = await loadAllMedia(elsewhere, bring)
  const put = <M extends Message>(message: M): M => withBlocks(message, blocks)
  const results = [...(open?.results ?? [])].map(([id, result]) => [id, put(result)] as const)
  const added = [...blocks.values()].reduce((sum, block) => sum + lengthOf(block), 0)
  const heavier = [...blocks.values()].reduce((sum, block) => sum + tokensOfBlock(block), 0)
  return {
    settled: settled.slice(0, count).map(put),
    count,
    open: open && { ...open, results: new Map(results), behind: open.behind.map(put) },
    elsewhere: new Map(),
    bytes: bytes + added,
    weight: { ...weight, total: weight.total + heavier },
  }
}

const unknownOrigin: MessageOrigin = { provider: '', api: '', model: '' }
/** Measures a block or message without serializing it. */
function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 8
  return Object.entries(value).reduce(
    (sum, [name, each]) => sum + name.length + 4 + lengthOf(each),
    2,
  )
}
const stateOf = (hidden: OpaqueContent | undefined): { state?: string } =>
  hidden?.state === undefined ? {} : { state: hidden.state }

function fold(draft: HistoryDraft, { event, opaque }: KeptEvent): void {
  if (event.type === 'span.model_request_end') return weigh(draft, event)
  if (event.type === 'agent.thread_context_compacted') return begin(draft, opaque)
  const hidden = opaque === undefined ? undefined : OpaqueContent.parse(JSON.parse(opaque))
  const state = stateOf(hidden)
  switch (event.type) {
    case 'user.message':
      settle(draft, { role: 'user', content: modelBlocks(event.content, draft.elsewhere) })
      return
    case 'system.message':
      settle(draft, { role: 'system', content: event.content })
      return
    case 'agent.message':
      for (const { text } of event.content) speak(draft, hidden, { type: 'text', text, ...state })
      return
    case 'agent.thinking': {
      const redacted = hidden?.redacted ? { redacted: true } : {}
      speak(draft, hidden, { type: 'thinking', text: event.thinking, ...redacted, ...state })
      return
    }
    case 'agent.tool_use':
    case 'agent.advisor_tool_use':
    case 'agent.mcp_tool_use':
    case 'agent.custom_tool_use': {
      const { id: eventId, name, input } = event
      const open = opened(draft, hidden)
      const callId = callIdFor(open, eventId, hidden)
      say(draft, open, { type: 'tool_call', id: callId, name, input, ...state })
      const isOfAdvisor = event.type === 'agent.advisor_tool_use'
      open.calls.push({ eventId, callId, name, isOfAdvisor })
      return
    }
    default:
      foldResult(draft, event)
  }
}

/** The provider's count is exact for all messages so far, whatever the estimate was. */
function weigh(
  { weight }: HistoryDraft,
  { is_error, model_usage }: EventOf<'span.model_request_end'>,
): void {
  const { input_tokens, cache_read_input_tokens, cache_creation_input_tokens } = model_usage
  const input = input_tokens + cache_read_input_tokens + cache_creation_input_tokens
  if (is_error || input === 0) return
  weight.counted = input + model_usage.output_tokens
  weight.at = weight.total
}

/** A boundary replaces everything before it. */
function begin(draft: HistoryDraft, opaque: string | undefined): void {
  const messages = opaque === undefined ? [] : BoundaryContent.parse(JSON.parse(opaque)).messages
  const total = messages.reduce((sum, message) => sum + estimateMessageTokens(message), 0)
  Object.assign(draft, {
    settled: messages,
    count: messages.length,
    open: undefined,
    elsewhere: new Map(),
    bytes: opaque?.length ?? 0,
    weight: { ...noWeight, total, base: total },
  })
}

function foldResult(draft: HistoryDraft, event: KeptEvent['event']): void {
  switch (event.type) {
    case 'agent.thread_message_received':
      // The result of its call has the same words.
      if (event.from_agent_name === advisorName && awaitsAdvice(draft.open)) return
      settle(draft, { role: 'user', content: [{ type: 'text', text: threadMessageText(event) }] })
      return
    case 'system.wakeup':
      settle(draft, { role: 'user', content: [{ type: 'text', text: wakeupText(event) }] })
      return
    case 'user.define_outcome':
    case 'span.outcome_evaluation_end': {
      const text = outcomeText(event)
      if (text !== undefined) settle(draft, { role: 'user', content: [{ type: 'text', text }] })
      return
    }
    case 'agent.tool_result':
    case 'agent.advisor_tool_result':
    case 'user.tool_result':
      answer(draft, event.tool_use_id, event)
      return
    case 'agent.mcp_tool_result':
      answer(draft, event.mcp_tool_use_id, event)
      return
    case 'user.custom_tool_result':
      answer(draft, event.custom_tool_use_id, event)
      return
    default:
  }
}

const awaitsAdvice = (open: OpenAnswer | undefined): boolean =>
  open?.calls.some(({ eventId, isOfAdvisor }) => isOfAdvisor && !open.results.has(eventId)) ?? false

/** The provider's id of the call, unless it is missing or was used before. */
function callIdFor(open: OpenAnswer, eventId: string, hidden: OpaqueContent | undefined): string {
  const given = hidden?.call_id
  return !given || open.calls.some(({ callId }) => callId === given) ? eventId : given
}

function speak(
  draft: HistoryDraft,
  hidden: OpaqueContent | undefined,
  block: AssistantBlock,
): void {
  say(draft, opened(draft, hidden), block)
}

function say(draft: HistoryDraft, open: OpenAnswer, block: AssistantBlock): void {
  open.content.push(block)
  draft.bytes += lengthOf(block) + (block.type === 'tool_call' ? 200 : 100)
  draft.weight.total += tokensOfBlock(block)
}

/** Consecutive blocks form one message. After a result or another message a new message begins. */
function opened(draft: HistoryDraft, hidden: OpaqueContent | undefined): OpenAnswer {
  if (draft.open && (draft.open.results.size > 0 || draft.open.behind.length > 0)) close(draft)
  const origin = hidden?.origin ?? unknownOrigin
  draft.open ??= { content: [], origin, calls: [], results: new Map(), behind: [] }
  return draft.open
}

/** An answer to a closed call adds nothing. */
function answer(
  draft: HistoryDraft,
  eventId: string,
  { content, is_error }: { content?: ResultContent[] | null; is_error?: boolean | null },
): void {
  const call = draft.open?.calls.find((each) => each.eventId === eventId)
  if (!draft.open || !call || draft.open.results.has(eventId)) return
  const message = result(call, modelBlocks(content ?? [], draft.elsewhere), is_error ?? false)
  draft.open.results.set(eventId, message)
  draft.bytes += lengthOf(message)
  draft.weight.total += estimateMessageTokens(message)
}

const result = (call: HistoryCall, content: UserBlock[], is_error: boolean): ToolResultMessage => ({
  role: 'tool_result',
  tool_call_id: call.callId,
  tool_name: call.name,
  content: content.length > 0 ? content : [{ type: 'text', text: '(no output)' }],
  is_error,
})

function settle(draft: HistoryDraft, message: Message): void {
  draft.bytes += lengthOf(message)
  draft.weight.total += estimateMessageTokens(message)
  if (draft.open && draft.open.results.size < draft.open.calls.length) {
    draft.open.behind.push(message)
    return
  }
  close(draft)
  add(draft, [message])
}

function close(draft: HistoryDraft): void {
  if (draft.open) add(draft, openMessages(draft.open))
  draft.open = undefined
}

function add(draft: HistoryDraft, messages: readonly Message[]): void {
  // Another history has extended the shared list already, so this one copies it.
  if (draft.settled.length !== draft.count) draft.settled = draft.settled.slice(0, draft.count)
  draft.settled.push(...messages)
  draft.count = draft.settled.length
}

/** The message with its results, in the order of its calls. A call without a result gets one that says so. */
function openMessages({ content, origin, calls, results, behind }: OpenAnswer): Message[] {
  const answers = calls.map(
    (call) =>
      results.get(call.eventId) ??
      result(call, [{ type: 'text', text: 'this call has no result' }], true),
  )
  return [{ role: 'assistant', content: [...content], origin }, ...answers, ...behind]
}
