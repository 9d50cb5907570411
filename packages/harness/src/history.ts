/** Kept events to model messages: the one place that does, deterministic to the byte so that prompt caches hold. */
import type { AssistantBlock, Message, Origin, UserBlock } from '@steward/model/model.ts'
import type { ResultContent, UserContent } from '@steward/protocol/content.ts'
import type { EventType } from '@steward/protocol/events.ts'
import type { Kept } from './turn.ts'

/** The events a history is made of; a reader of the log may leave out all others. */
export const historyTypes: readonly EventType[] = [
  'user.message',
  'system.message',
  'agent.message',
  'agent.thinking',
  'agent.tool_use',
  'agent.tool_result',
  'agent.custom_tool_use',
  'user.custom_tool_result',
  'user.tool_result',
]

/** What a kept event's `opaque` holds: how the wire that wrote it wants to see it again. */
export type Opaque = { origin: Origin; state?: string; call_id?: string; redacted?: boolean }

type Call = { eventId: string; callId: string; name: string }

/** An assistant message with its calls stands open until the next message; results may come in any order. */
export type History = {
  /** Final: no later event changes them. */
  readonly settled: Message[]
  assistant: { content: AssistantBlock[]; origin: Origin } | undefined
  calls: Call[]
  results: Map<string, Message>
  /** Messages that came while calls were open. */
  behind: Message[]
  bytes: number
}

export const emptyHistory = (): History => ({
  settled: [],
  assistant: undefined,
  calls: [],
  results: new Map(),
  behind: [],
  bytes: 0,
})

/** The same history, to be folded further without a trace in the first. */
export const copyHistory = (history: History): History => ({
  ...history,
  settled: [...history.settled],
  assistant: history.assistant && { ...history.assistant, content: [...history.assistant.content] },
  calls: [...history.calls],
  results: new Map(history.results),
  behind: [...history.behind],
})

/** Rough, in bytes; enough to bound a cache. */
export const sizeOf = (history: History): number => history.bytes

/** Takes the events in, in order, and gives the same history back, which is no longer what it was. */
export function foldHistory(history: History, kept: readonly Kept[]): History {
  for (const each of kept) fold(history, each)
  return history
}

const unknownOrigin: Origin = { provider: '', api: '', model: '' }

function fold(history: History, { event, opaque }: Kept): void {
  const hidden = opaque === undefined ? undefined : (JSON.parse(opaque) as Opaque)
  history.bytes += 200 + (opaque?.length ?? 0)
  switch (event.type) {
    case 'user.message':
      settle(history, { role: 'user', content: blocks(event.content) })
      return
    case 'system.message':
      settle(history, { role: 'system', content: event.content })
      return
    case 'agent.message':
      for (const { text } of event.content) {
        speak(history, hidden, { type: 'text', text, ...stateOf(hidden) })
      }
      return
    case 'agent.thinking': {
      const redacted = hidden?.redacted ? { redacted: true } : {}
      speak(history, hidden, {
        type: 'thinking',
        text: event.thinking,
        ...redacted,
        ...stateOf(hidden),
      })
      return
    }
    case 'agent.tool_use':
    case 'agent.custom_tool_use': {
      const id = hidden?.call_id ?? event.id
      speak(history, hidden, {
        type: 'tool_call',
        id,
        name: event.name,
        input: event.input,
        ...stateOf(hidden),
      })
      history.calls.push({ eventId: event.id, callId: id, name: event.name })
      return
    }
    case 'agent.tool_result':
    case 'user.tool_result':
      answer(history, event.tool_use_id, event.content ?? [], event.is_error ?? false)
      return
    case 'user.custom_tool_result':
      answer(history, event.custom_tool_use_id, event.content ?? [], event.is_error ?? false)
      return
    default:
  }
}

const stateOf = (hidden: Opaque | undefined) =>
  hidden?.state === undefined ? {} : { state: hidden.state }

/** Consecutive blocks are one assistant message, until something else is said. */
function speak(history: History, hidden: Opaque | undefined, block: AssistantBlock): void {
  if (history.calls.length > 0 && history.results.size === history.calls.length) close(history)
  else if (history.behind.length > 0) close(history)
  history.assistant ??= { content: [], origin: hidden?.origin ?? unknownOrigin }
  history.assistant.content.push(block)
  history.bytes += JSON.stringify(block).length
}

function answer(
  history: History,
  eventId: string,
  content: readonly ResultContent[],
  isError: boolean,
): void {
  const call = history.calls.find((each) => each.eventId === eventId)
  // A late answer to a call that was closed already adds nothing.
  if (!call || history.results.has(eventId)) return
  history.results.set(eventId, result(call, blocks(content), isError))
  history.bytes += JSON.stringify(content).length
}

const result = (call: Call, content: UserBlock[], is_error: boolean): Message => ({
  role: 'tool_result',
  tool_call_id: call.callId,
  tool_name: call.name,
  content: content.length > 0 ? content : [{ type: 'text', text: '(no output)' }],
  is_error,
})

function settle(history: History, message: Message): void {
  history.bytes += JSON.stringify(message).length
  if (history.assistant && history.results.size < history.calls.length) {
    history.behind.push(message)
    return
  }
  close(history)
  history.settled.push(message)
}

/** The open assistant message with its results, in the order of its calls; what has none says so. */
function close(history: History): void {
  history.settled.push(...openMessages(history))
  history.assistant = undefined
  history.calls = []
  history.results = new Map()
  history.behind = []
}

function openMessages({ assistant, calls, results, behind }: History): Message[] {
  if (!assistant) return behind
  const answers = calls.map(
    (call) =>
      results.get(call.eventId) ??
      result(call, [{ type: 'text', text: 'this call has no result' }], true),
  )
  return [{ role: 'assistant', ...assistant }, ...answers, ...behind]
}

/** What a model may be asked with: every call has exactly one result, right behind its message. */
export const messagesOf = (history: History): Message[] => [
  ...history.settled,
  ...openMessages(history),
]

/** Protocol blocks as a model takes them; sources that must be fetched were resolved before they came here. */
function blocks(content: readonly (UserContent | ResultContent)[]): UserBlock[] {
  return content.map((block): UserBlock => {
    if (block.type === 'text') return block
    if (block.type === 'search_result') {
      const text = block.content.map((part) => part.text).join('\n')
      return { type: 'text', text: `${block.title}\n${block.source}\n${text}` }
    }
    const { source } = block
    if (source.type === 'url' || source.type === 'file') {
      const where = source.type === 'url' ? source.url : source.file_id
      return { type: 'text', text: `[${block.type} ${where} could not be read]` }
    }
    if (block.type === 'image') {
      return source.type === 'base64'
        ? { type: 'image', media_type: source.media_type, data: source.data }
        : { type: 'text', text: source.data }
    }
    const named = {
      ...(block.title ? { title: block.title } : {}),
      ...(block.context ? { context: block.context } : {}),
    }
    const data =
      source.type === 'base64' ? source.data : Buffer.from(source.data).toString('base64')
    return { type: 'document', media_type: source.media_type, data, ...named }
  })
}
