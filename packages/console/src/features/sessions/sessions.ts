/** The sessions of the workspace, page by page. */
import { infiniteQueryOptions } from '@tanstack/react-query'
import { api, dataOf } from '../../lib/api/client.ts'
import type { Session, SessionStatus } from '../../lib/api/types.ts'
import type { Filters } from '../../lib/filters.ts'
import { words } from '../../lib/words.ts'
import type { StatusTone } from '../../components/status.tsx'
import { sessionQueryOf } from './filters.ts'

const pageSize = 50

export const sessionsQuery = (filters: Filters) =>
  infiniteQueryOptions({
    queryKey: ['sessions', 'list', filters],
    queryFn: ({ pageParam, signal }) =>
      dataOf(
        api.GET('/v1/sessions', {
          params: {
            query: {
              limit: pageSize,
              ...sessionQueryOf(filters, Date.now()),
              ...(pageParam !== '' && { page: pageParam }),
            },
          },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_page ?? undefined,
  })

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

/** Rows that hold still: while `isHeld`, sessions that came since are counted and not shown. */
export function heldRows(
  rows: readonly Session[],
  held: readonly string[] | undefined,
): { rows: readonly Session[]; newer: number } {
  if (!held) return { rows, newer: 0 }
  const known = new Set(held)
  const kept = rows.filter(({ id }) => known.has(id))
  const first = rows.findIndex(({ id }) => known.has(id))
  return { rows: kept, newer: first < 0 ? rows.length : first }
}
