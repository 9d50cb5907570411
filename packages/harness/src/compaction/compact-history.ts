/** Replaces old messages by a summary: when, which messages stay, and the boundary event. */
import type { Message, ModelFailure } from '@steward/model/model.ts'
import type { BoundaryContent, History } from '../history.ts'
import { foldHistory, buildMessages } from '../history.ts'
import { toToolSpec } from '../request.ts'
import { tokensOfText } from '../tokens.ts'
import type { KeptEvent, Tool, Turn, TurnStep } from '../turn.ts'
import type { CompactionReason } from './attempts.ts'
import { attemptSummaries } from './attempts.ts'
import type { HistoryCut } from './cut-history.ts'
import { cutHistory } from './cut-history.ts'
import type { StrategyName } from './settings.ts'
import { summaryTokens } from './settings.ts'
import { buildTranscript } from './transcript.ts'

const mostTailTokens = 20_000
/**
 * Between two boundaries the conversation grows by at least this share of the limit, however long prompt and tools are.
 */
const leastGrowth = 0.1
/** Tokens around a transcript. */
const aroundTokens = 1_000

type CompactionTools = ReadonlyMap<string, Tool>

export type CompactionOutcome =
  | { kind: 'compacted'; history: History }
  /** No message can be replaced by a summary. */
  | { kind: 'unchanged' }
  | { kind: 'unavailable'; failure: ModelFailure }
  /** `last`: events to store with the end of the turn. */
  | { kind: 'interrupted'; last: KeptEvent[] }

/** Tokens of the next request: the provider's count for the newest request, plus an estimate for messages since. */
function takenBy({ system }: Turn, { weight }: History, tools: CompactionTools): number {
  const { total, counted, at } = weight
  if (counted !== undefined) return counted + total - at
  const specs = [...tools.values()].map(toToolSpec)
  return total + tokensOfText(system) + tokensOfText(JSON.stringify(specs))
}

export function isCompactionDue(turn: Turn, history: History, tools: CompactionTools): boolean {
  const { triggerFraction } = turn.compaction
  if (triggerFraction === null) return false
  const limit = triggerFraction * turn.model.contextWindow
  const { total, base } = history.weight
  return total - base >= leastGrowth * limit && takenBy(turn, history, tools) >= limit
}

/** Stores the boundary and returns the history after it. Events about earlier calls stay in the log. */
export async function* compactHistory(
  turn: Turn,
  history: History,
  tools: CompactionTools,
  reason: CompactionReason,
): AsyncGenerator<TurnStep, CompactionOutcome, unknown> {
  const messages = buildMessages(history)
  const from = history.weight.base > 0 ? 1 : 0
  const room = roomOf(turn, history, tools, reason)
  const parts = cutHistory(messages, { from, ...room })
  const { old, asked, tail } = parts
  if (old.length - from <= asked.length) {
    const isShorter = tail.some((message, index) => message !== messages[old.length + index])
    if (!isShorter) return { kind: 'unchanged' }
    const left = { messages: [...old, ...tail], kept: old.length + tail.length, replaced: 0 }
    return yield* begin(turn, history, tools, [], { strategy: null, ...left })
  }
  const most = summaryTokens(turn.compaction, turn.model)
  const subject = {
    system: turn.system,
    tools: [...tools.values()].map(toToolSpec),
    messages,
    cacheKey: turn.cacheKey,
    old,
    prompt: turn.compaction.summaryPrompt,
    summaryTokens: most,
    transcriptTokens: Math.max(500, room.size - most - aroundTokens),
  }
  const attempted = yield* attemptSummaries(turn, subject, reason)
  switch (attempted.kind) {
    case 'written': {
      const { strategy, text, end } = attempted
      return yield* begin(turn, history, tools, [end], { strategy, ...headed(text, parts) })
    }
    case 'none': {
      const text = `${unsummed}\n\n${buildTranscript(old, most * 3)}`
      return yield* begin(turn, history, tools, [], { strategy: null, ...headed(text, parts) })
    }
    case 'unavailable':
    case 'interrupted':
      return attempted
  }
}

/** Limits in tokens: input of one request, size of the tail, and size above which the tail's results are shortened. */
function roomOf(turn: Turn, history: History, tools: CompactionTools, reason: CompactionReason) {
  const { contextWindow } = turn.model
  if (reason === 'threshold') {
    const limit = (turn.compaction.triggerFraction ?? 1) * contextWindow
    return { size: contextWindow, tokens: Math.min(mostTailTokens, limit / 4), most: limit / 2 }
  }
  // The context may be smaller than declared: a refused conversation is larger than the real limit.
  const taken = takenBy(turn, history, tools)
  const size = taken < contextWindow ? taken / 2 : contextWindow
  return { size, tokens: Math.min(mostTailTokens, size / 8), most: size / 4 }
}

/** The conversation behind a boundary. `summary` is the first of `messages` where one was written. */
type ShortHistory = {
  strategy: StrategyName | null
  messages: Message[]
  summary?: string
  replaced: number
  kept: number
}

async function* begin(
  turn: Turn,
  history: History,
  tools: CompactionTools,
  before: KeptEvent[],
  short: ShortHistory,
): AsyncGenerator<TurnStep, CompactionOutcome, unknown> {
  const opaque: BoundaryContent = { messages: short.messages }
  const { strategy, summary, replaced, kept: left } = short
  const type = 'agent.thread_context_compacted'
  const event = { id: turn.newEventId(), type, strategy } as const
  const bare: KeptEvent = { event, opaque: JSON.stringify(opaque) }
  const next = foldHistory(history, [bare])
  const tokens = {
    before: Math.round(takenBy(turn, history, tools)),
    after: Math.round(takenBy(turn, next, tools)),
  }
  const said = { ...(summary !== undefined && { summary }), messages: { replaced, kept: left } }
  const kept: KeptEvent = { ...bare, event: { ...event, ...said, tokens } }
  yield { type: 'keep', kept: [...before, kept] }
  return turn.signal.aborted
    ? { kind: 'interrupted', last: [] }
    : { kind: 'compacted', history: next }
}

const headed = (text: string, { old, asked, tail }: HistoryCut) => ({
  messages: [
    { role: 'user', content: [{ type: 'text', text: `${opening}\n\n${text}\n</summary>` }] },
    ...asked,
    ...tail,
  ] satisfies Message[],
  summary: text,
  replaced: old.length - asked.length,
  kept: asked.length + tail.length,
})

const opening =
  '<summary>\nWhat was said before no longer fits into your context, and this stands in its place. What follows ' +
  'behind it is as it was said; your work may have gone on since the newest message of the user.'
const unsummed = 'No summary could be written; this is what is left of the transcript.'
