/** Cuts a conversation into the messages that are summarized and the messages that stay. */
import type { Message, UserBlock } from '@steward/model/model.ts'
import { estimateMessageTokens } from '../tokens.ts'
import { shortenTexts } from './transcript.ts'

export type HistoryCut = {
  /** Messages to summarize. */
  old: Message[]
  /** The newest messages of the user if they lie in `old`. They are never left to a summary. */
  asked: Message[]
  /** The newest messages. The tail begins with an answer or a message, so that every call has its result. */
  tail: Message[]
}

const isSaid = (message: Message | undefined): boolean =>
  message?.role === 'user' || message?.role === 'system'
const weightOf = (messages: readonly Message[]): number =>
  messages.reduce((sum, message) => sum + estimateMessageTokens(message), 0)

/** A boundary stores the tail, so its bytes count as well: an image has many bytes for few tokens. */
const bytesPerToken = 400
function costOf(message: Message): number {
  const bytes = message.content.reduce(
    (sum, block) => sum + ('data' in block ? block.data.length : 0),
    0,
  )
  return Math.max(estimateMessageTokens(message), bytes / bytesPerToken)
}

/**
 * `from`: start of the conversation after an earlier summary. The tail has at most `tokens`, but always contains the
 * newest message, or the newest answer with its results. Above `most` the tool results in it are shortened. Of
 * consecutive user messages only the newest are sure to stay.
 */
export function cutHistory(
  messages: readonly Message[],
  { from, tokens, most }: { from: number; tokens: number; most: number },
): HistoryCut {
  const input = newestInput(messages, from, most)
  const begin = tailOf(messages, from, input, tokens)
  return {
    old: messages.slice(0, begin),
    asked: messages.slice(input.first, Math.max(input.first, Math.min(input.end, begin))),
    tail: fitting(messages.slice(begin), most),
  }
}

type MessageRange = { first: number; end: number }

/** The newest run of messages from people or the operator. */
function newestInput(messages: readonly Message[], from: number, most: number): MessageRange {
  const last = messages.findLastIndex(({ role }) => role === 'user')
  if (last < from) return { first: from, end: from }
  let [first, end] = [last, last + 1]
  while (isSaid(messages[end])) end++
  const costs = (from: number, to: number) =>
    messages.slice(from, to).reduce((sum, message) => sum + costOf(message), 0)
  let room = most - costs(first, end)
  for (; first > from && isSaid(messages[first - 1]); first--) {
    room -= costs(first - 1, first)
    if (room < 0) break
  }
  return { first, end }
}

function tailOf(
  messages: readonly Message[],
  from: number,
  input: MessageRange,
  tokens: number,
): number {
  let begin = messages.findLastIndex(({ role }) => role !== 'tool_result')
  if (isSaid(messages[begin])) begin = Math.min(begin, input.first)
  begin = Math.max(from, begin)
  let room = tokens - messages.slice(begin).reduce((sum, message) => sum + costOf(message), 0)
  for (let index = begin - 1; index >= from; index--) {
    const message = messages[index]
    if (!message || (room -= costOf(message)) < 0) break
    if (message.role !== 'tool_result') begin = index
  }
  return begin
}

/** Shortens the texts of results evenly to fit into `most`. */
function fitting(tail: Message[], most: number): Message[] {
  if (weightOf(tail) <= most) return tail
  const results = tail.filter(({ role }) => role === 'tool_result')
  const room = most - weightOf(tail) + weightOf(results)
  const characters = Math.max(200, Math.floor((room / Math.max(1, results.length)) * 3))
  const short = (block: UserBlock): UserBlock =>
    block.type === 'text' ? { ...block, text: shortenTexts(block.text, characters) } : block
  return tail.map((message) =>
    message.role === 'tool_result' ? { ...message, content: message.content.map(short) } : message,
  )
}
