/** One attempt to tell something. The attempt first looks for the result of an earlier attempt whose end is unknown. */
import type {
  AnswerOutcome,
  AnswerVerdict,
  ExternalThread,
  Notes,
  ProviderCall,
  Telling,
} from '../integration.ts'
import type { AnswerChannel } from './channel.ts'
import { mostAttempts } from './verdict.ts'

export type TellingOutcome =
  | { kind: 'told'; notes: Notes; url?: string }
  | { kind: 'not_taken'; reason: string }
  | Extract<AnswerVerdict, { kind: 'again' | 'needs_reauth' }>

/** `start` records this attempt and its target, and ends before anything is sent. */
export type AttemptParts = {
  channel: AnswerChannel
  signal: AbortSignal
  earlierAttempts: number
  start: (target: Notes) => Promise<void>
  now: () => number
}

/** Judges the answer to this attempt. */
export const judgeAnswer = (
  { channel, earlierAttempts, now }: AttemptParts,
  outcome: AnswerOutcome,
): AnswerVerdict =>
  channel.adapter.verdict(outcome, {
    attempts: earlierAttempts + 1,
    random: Math.random(),
    nowMs: now(),
  })

export async function attemptTelling(
  parts: AttemptParts,
  telling: Telling,
  thread: ExternalThread,
): Promise<TellingOutcome> {
  const { channel, signal, earlierAttempts, start } = parts
  const { adapter, letter, send } = channel
  const question = adapter.lookUp?.callFor(telling, thread)
  if (question) return lookUpFirst(parts, question, { telling, thread })
  const call = adapter.callFor(telling, thread)
  if (!call) return { kind: 'told', notes: thread.notes }
  await start(thread.target)
  const earlier = earlierAttempts > 0 ? await lookFor(parts, telling, thread) : undefined
  if (earlier) return earlier
  const outcome = await send(letter(telling, call), signal)
  const verdict = judgeAnswer(parts, outcome)
  if (verdict.kind === 'delivered') {
    const body = 'body' in outcome ? outcome.body : ''
    const url = adapter.urlOf?.(telling, thread, body)
    const notes = adapter.noted(telling, thread, body)
    return { kind: 'told', notes, ...(url !== undefined && { url }) }
  }
  if (verdict.kind === 'failed' && earlierAttempts + 1 < mostAttempts) {
    const other = call.continues ? { ...thread, notes: {} } : elsewhere(parts, call, thread)
    if (other) return attemptTelling(parts, telling, other)
  }
  return toTellingOutcome(parts, call, verdict, outcome)
}

/** Asks the provider what the telling needs, and makes it then. */
async function lookUpFirst(
  parts: AttemptParts,
  question: ProviderCall,
  { telling, thread }: { telling: Telling; thread: ExternalThread },
): Promise<TellingOutcome> {
  const { channel, signal, start } = parts
  const { adapter, letter, send } = channel
  await start(thread.target)
  const answer = await send(letter(telling, question), signal)
  const found = isOk(answer) ? adapter.lookUp?.targetOf(telling, thread, answer.body) : undefined
  const verdict = judgeAnswer(parts, answer)
  const isSilent = verdict.kind === 'delivered' || verdict.kind === 'failed'
  const target = found ?? (isSilent && adapter.lookUp?.targetWithout?.(telling, thread))
  if (target) return attemptTelling(parts, telling, { ...thread, target })
  return toTellingOutcome(parts, question, verdict, answer)
}

/** Another target of the telling, such as one without a thread that was deleted. */
function elsewhere(
  { channel }: AttemptParts,
  { repliesInThread, otherTarget }: ProviderCall,
  thread: ExternalThread,
): ExternalThread | undefined {
  const target = otherTarget ?? (repliesInThread && channel.adapter.withoutThread?.(thread.target))
  return target ? { ...thread, target } : undefined
}

export function toTellingOutcome(
  { channel }: AttemptParts,
  { isOptional }: ProviderCall,
  verdict: AnswerVerdict,
  outcome: AnswerOutcome,
): TellingOutcome {
  const isRefused = verdict.kind === 'delivered' || verdict.kind === 'failed'
  return isRefused || (isOptional && verdict.kind === 'needs_reauth')
    ? { kind: 'not_taken', reason: channel.adapter.reasonOf(outcome) }
    : verdict
}

/** The outcome of an earlier attempt; undefined when that attempt made nothing. */
async function lookFor(
  parts: AttemptParts,
  telling: Telling,
  thread: ExternalThread,
): Promise<TellingOutcome | undefined> {
  const { channel, signal, earlierAttempts } = parts
  const { adapter, letter, send } = channel
  const search = adapter.searchFor(telling, thread)
  if (!search) return undefined
  const answer = await send(letter(telling, search), signal)
  const seen = isOk(answer) ? adapter.found(telling, thread, answer.body) : undefined
  if (seen?.kind === 'found') {
    const { notes, url } = seen
    return { kind: 'told', notes, ...(url !== undefined && { url }) }
  }
  if (seen?.kind === 'absent') return undefined
  // Without a readable answer the earlier result stays unknown, so nothing is sent twice.
  const read = judgeAnswer(parts, answer)
  const verdict = read.kind === 'delivered' ? judgeAnswer(parts, unreadableAnswer) : read
  if (verdict.kind === 'again' || verdict.kind === 'needs_reauth') return verdict
  return earlierAttempts + 1 < mostAttempts
    ? undefined
    : { kind: 'not_taken', reason: adapter.reasonOf(answer) }
}

export const unreadableAnswer: AnswerOutcome = { status: 502, retryAfter: null, body: '' }

export const isOk = (answer: AnswerOutcome): answer is Extract<AnswerOutcome, { status: number }> =>
  'status' in answer && answer.status === 200
