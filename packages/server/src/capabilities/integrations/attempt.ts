/** One attempt to tell something: what an attempt of unknown end has made already is looked for first. */
import type { AnswerOutcome, AnswerVerdict, ExternalThread, Notes, Telling } from './integration.ts'
import type { AnswerChannel } from './channel.ts'
import { mostAttempts } from './verdict.ts'

export type TellingOutcome =
  | { kind: 'told'; notes: Notes }
  | { kind: 'not_taken'; reason: string }
  | Extract<AnswerVerdict, { kind: 'again' | 'needs_reauth' }>

/** `begun`: attempts before this one. `start` records this one; it is awaited before anything is sent. */
export type AttemptParts = {
  channel: AnswerChannel
  signal: AbortSignal
  begun: number
  start: () => Promise<void>
  now: () => number
}

export async function attempt(
  parts: AttemptParts,
  telling: Telling,
  thread: ExternalThread,
): Promise<TellingOutcome> {
  const { channel, signal, begun, start, now } = parts
  const { adapter, letter, send } = channel
  const call = adapter.callFor(telling, thread)
  if (!call) return { kind: 'told', notes: thread.notes }
  await start()
  const verdictOn = (outcome: AnswerOutcome): AnswerVerdict =>
    adapter.verdict(outcome, { begun: begun + 1, random: Math.random(), nowMs: now() })
  const earlier = begun > 0 ? await lookFor(parts, telling, thread, verdictOn) : undefined
  if (earlier) return earlier
  const outcome = await send(letter(telling, call), signal)
  const verdict = verdictOn(outcome)
  if (verdict.kind === 'delivered') {
    const body = 'body' in outcome ? outcome.body : ''
    return { kind: 'told', notes: adapter.noted(telling, thread, body) }
  }
  if (verdict.kind !== 'failed') return verdict
  // Somebody has deleted what would be edited: it is told anew.
  if (call.method === 'PATCH' && isGone(outcome))
    return attempt(parts, telling, { ...thread, notes: {} })
  return { kind: 'not_taken', reason: reasonOf(outcome) }
}

/** What an earlier attempt has come to; undefined where it has made nothing. */
async function lookFor(
  { channel, signal, begun }: AttemptParts,
  telling: Telling,
  thread: ExternalThread,
  verdictOn: (outcome: AnswerOutcome) => AnswerVerdict,
): Promise<TellingOutcome | undefined> {
  const { adapter, letter, send } = channel
  const search = adapter.searchFor(telling, thread)
  if (!search) return undefined
  const answer = await send(letter(telling, search), signal)
  const seen = isOk(answer) ? adapter.found(telling, thread, answer.body) : undefined
  if (seen?.kind === 'found') return { kind: 'told', notes: seen.notes }
  if (seen?.kind === 'absent') return undefined
  // Unknown is not absent: without an answer that can be read nothing is repeated.
  const read = verdictOn(answer)
  const verdict = read.kind === 'delivered' ? verdictOn(unreadable) : read
  if (verdict.kind === 'again' || verdict.kind === 'needs_reauth') return verdict
  return begun + 1 < mostAttempts ? undefined : { kind: 'not_taken', reason: reasonOf(answer) }
}

const unreadable: AnswerOutcome = { status: 502, retryAfter: null, body: '' }

const isOk = (answer: AnswerOutcome): answer is Extract<AnswerOutcome, { status: number }> =>
  'status' in answer && answer.status === 200

const isGone = (outcome: AnswerOutcome): boolean =>
  'status' in outcome && (outcome.status === 404 || outcome.status === 410)

const reasonOf = (outcome: AnswerOutcome): string =>
  'status' in outcome ? `status ${outcome.status}` : outcome.error
