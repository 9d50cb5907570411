/** What a session's fields say to people. */
import type { Session, SessionStatus } from '../api/types.ts'
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

export const titleOf = ({ title, id }: Pick<Session, 'title' | 'id'>): string =>
  title === null || title.trim() === '' ? `${words.sessions.untitled} ${id.slice(-6)}` : title

export const tokensOf = ({ usage }: Pick<Session, 'usage'>): number =>
  usage.input_tokens +
  usage.output_tokens +
  usage.cache_read_input_tokens +
  usage.cache_creation.ephemeral_5m_input_tokens +
  usage.cache_creation.ephemeral_1h_input_tokens

export const costOf = ({ usage }: Pick<Session, 'usage'>): number | undefined =>
  usage.list_cost === null ? undefined : Number(usage.list_cost.amount)
