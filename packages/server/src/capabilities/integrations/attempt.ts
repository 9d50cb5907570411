/** One attempt to tell something: what an attempt of unknown end has made already is looked for first. */
import type { AnswerVerdict, ExternalThread, Notes, Telling } from './integration.ts'
import type { AnswerChannel } from './channel.ts'

export type TellingOutcome =
  | { kind: 'told'; notes: Notes }
  | { kind: 'not_taken'; reason: string }
  | Extract<AnswerVerdict, { kind: 'again' | 'needs_reauth' }>

/** `begun`: attempts before this one. `start` records this one; it is awaited before anything is sent that has an effect. */
export type AttemptParts = {
  channel: AnswerChannel
  signal: AbortSignal
  begun: number
  start: () => Promise<void>
  now: () => number
}

export async function attempt(
  { channel, signal, begun, start, now }: AttemptParts,
  telling: Telling,
  thread: ExternalThread,
): Promise<TellingOutcome> {
  const { adapter, letter, send } = channel
  const call = adapter.callFor(telling, thread)
  if (!call) return { kind: 'told', notes: thread.notes }
  const search = begun > 0 ? adapter.searchFor(telling, thread) : null
  if (search) {
    const answer = await send(letter(telling, search), signal)
    const isRead = 'status' in answer && answer.status === 200
    const notes = isRead ? adapter.found(telling, thread, answer.body) : undefined
    if (notes) return { kind: 'told', notes }
    const tried = { begun, random: Math.random(), nowMs: now() }
    // Unknown is not absent: without an answer nothing is repeated.
    const verdict = adapter.verdict(answer, tried)
    if (verdict.kind === 'again' || verdict.kind === 'needs_reauth') return verdict
  }
  await start()
  const outcome = await send(letter(telling, call), signal)
  const verdict = adapter.verdict(outcome, {
    begun: begun + 1,
    random: Math.random(),
    nowMs: now(),
  })
  if (verdict.kind === 'delivered') {
    const body = 'body' in outcome ? outcome.body : ''
    return { kind: 'told', notes: adapter.noted(telling, thread, body) }
  }
  if (verdict.kind !== 'failed') return verdict
  const reason = 'status' in outcome ? `status ${outcome.status}` : outcome.error
  return { kind: 'not_taken', reason }
}
