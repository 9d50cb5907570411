/** What a session's fields say to people. */
import type { Session, SessionStatus, SessionSummary } from '../api/types.ts'
import type { StatusTone } from '../tones.ts'
import { words } from '../words.ts'

const tones: Record<SessionStatus, StatusTone> = {
  pending: 'queued',
  running: 'running',
  idle: 'idle',
  done: 'done',
  failed: 'failed',
  rescheduling: 'queued',
  terminated: 'idle',
}

/** The sign and the word of a session's state. */
export const statusOf = (status: SessionStatus): { tone: StatusTone; word: string } => ({
  tone: tones[status],
  word: words.status[status],
})

const titleOf = ({ title, id }: Pick<Session, 'title' | 'id'>): string =>
  title === null || title.trim() === '' ? `${words.sessions.untitled} ${id.slice(-6)}` : title

export const tokensOf = ({ usage }: Pick<Session, 'usage'>): number =>
  usage.input_tokens +
  usage.output_tokens +
  usage.cache_read_input_tokens +
  usage.cache_creation.ephemeral_5m_input_tokens +
  usage.cache_creation.ephemeral_1h_input_tokens

/** Dollars of an amount in cents. Undefined where a model has no price. */
export const dollarsOf = (cost: { amount: string } | null): number | undefined =>
  cost === null ? undefined : Number(cost.amount) / 100

export const costOf = ({ usage }: Pick<Session, 'usage'>): number | undefined =>
  dollarsOf(usage.list_cost)

/** The sign of a session, with the wait that holds it: in colour where it asks people, or has failed. */
export function stateOf({
  status,
  waiting_on: wait,
  failure,
}: Pick<SessionSummary, 'status' | 'waiting_on' | 'failure'>): {
  tone: StatusTone
  word: string
  more?: string
} {
  if (wait) {
    const tone = wait.who === 'person' ? 'asks' : wait.who === 'money' ? 'failed' : 'queued'
    return { tone, word: words.wait[wait.type], more: wait.text }
  }
  if (failure !== null && status === 'idle')
    return { tone: 'failed', word: words.session.turnFailed, more: failure }
  return statusOf(status)
}

/** The title, or the beginning of the first message in its place. */
export const shortTitleOf = ({
  title,
  first_words: first,
  id,
}: Pick<SessionSummary, 'title' | 'first_words' | 'id'>): string =>
  titleOf({ title: title?.trim() ? title : first, id })

export const shortTokensOf = ({ usage }: Pick<SessionSummary, 'usage'>): number =>
  usage.input_tokens +
  usage.output_tokens +
  usage.cache_read_input_tokens +
  usage.cache_creation_input_tokens

export const shortCostOf = ({ usage }: Pick<SessionSummary, 'usage'>): number | undefined =>
  dollarsOf(usage.list_cost)
