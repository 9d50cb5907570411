/** Where a conversation is cut: what goes into the summary, and what stays as it was said. */
import type { Message, UserBlock } from '@steward/model/model.ts'
import { tokensOf } from '../tokens.ts'
import { shortened } from './transcript.ts'

export type Cut = {
  /** To be summed up. */
  old: Message[]
  /** What the user said last, where it lies in `old`: it is never left to a summary. */
  asked: Message[]
  /** The newest, from the beginning of an answer or a message on, so that every call has its result. */
  tail: Message[]
}

const isSaid = (message: Message | undefined): boolean =>
  message?.role === 'user' || message?.role === 'system'
const weightOf = (messages: readonly Message[]): number =>
  messages.reduce((sum, message) => sum + tokensOf(message), 0)

/** A boundary keeps what stays: bytes of images count too, where they are more than a model makes of them. */
const bytesPerToken = 400
function costOf(message: Message): number {
  const bytes = message.content.reduce(
    (sum, block) => sum + ('data' in block ? block.data.length : 0),
    0,
  )
  return Math.max(tokensOf(message), bytes / bytesPerToken)
}

/**
 * `from`: where the conversation begins, behind an earlier summary. The tail has at most `tokens`, but for the newest
 * message or answer with its results, which is always in it. With more than `most`, what tools said there is shortened,
 * and of the messages that a user sent one after the other only the newest are sure to stay.
 */
export function cut(
  messages: readonly Message[],
  { from, tokens, most }: { from: number; tokens: number; most: number },
): Cut {
  const input = newestInput(messages, from, most)
  const begin = tailOf(messages, from, input, tokens)
  return {
    old: messages.slice(0, begin),
    asked: messages.slice(input.first, Math.max(input.first, Math.min(input.end, begin))),
    tail: fitting(messages.slice(begin), most),
  }
}

type Run = { first: number; end: number }

/** The newest run of messages that people or the operator sent. */
function newestInput(messages: readonly Message[], from: number, most: number): Run {
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

function tailOf(messages: readonly Message[], from: number, input: Run, tokens: number): number {
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

/** With the texts of its results cut, evenly, to what there is room for. */
function fitting(tail: Message[], most: number): Message[] {
  if (weightOf(tail) <= most) return tail
  const results = tail.filter(({ role }) => role === 'tool_result')
  const room = most - weightOf(tail) + weightOf(results)
  const characters = Math.max(200, Math.floor((room / Math.max(1, results.length)) * 3))
  const short = (block: UserBlock): UserBlock =>
    block.type === 'text' ? { ...block, text: shortened(block.text, characters) } : block
  return tail.map((message) =>
    message.role === 'tool_result' ? { ...message, content: message.content.map(short) } : message,
  )
}
