/** All sessions of a filter, not those of the page alone: counted first, then taken out or archived. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf } from '../../lib/api/client.ts'
import type { SessionSummary } from '../../lib/api/types.ts'
import type { ChosenFilters } from '../../lib/filters.ts'
import { shortCostOf, shortTitleOf, shortTokensOf, stateOf } from '../../lib/session/facts.ts'
import { sessionQueryOf } from './filters.ts'

const pageSize = 200
/** More is for a program: the page would stand for minutes. */
export const mostSessions = 5_000

async function readAll(filters: ChosenFilters, signal: AbortSignal): Promise<SessionSummary[]> {
  const all: SessionSummary[] = []
  const query = { limit: pageSize, ...sessionQueryOf(filters, Date.now()) }
  let page: string | undefined
  do {
    const answer = await dataOf(
      api.GET('/v1/ext/sessions', {
        params: { query: { ...query, ...(page !== undefined && { page }) } },
        signal,
      }),
    )
    all.push(...answer.data)
    page = answer.next_page ?? undefined
  } while (page !== undefined && all.length < mostSessions)
  return all
}

/** Read anew for each dialog: what is counted is what is done. */
export const useAllSessions = (filters: ChosenFilters) =>
  useQuery({
    queryKey: ['sessions', 'all', filters],
    queryFn: ({ signal }) => readAll(filters, signal),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  })

/** Archives one after the other. `done` of them are archived; it stops at the first that the service refuses. */
export function useArchiveAll() {
  const client = useQueryClient()
  const [done, setDone] = useState(0)
  const archive = useMutation({
    mutationFn: async (sessions: readonly SessionSummary[]) => {
      for (const [at, { id }] of sessions.entries()) {
        await api.POST('/v1/sessions/{id}/archive', { params: { path: { id } } })
        setDone(at + 1)
      }
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['sessions'] }),
  })
  return { ...archive, done }
}

/** Attack: a title that a table program would read as a formula. */
const cell = (value: string | number): string => {
  const text = String(value)
  const safe = /^[=+\-@\t\r]/.test(text) && typeof value === 'string' ? `'${text}` : text
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

const columns = [
  ...['id', 'status', 'title', 'agent', 'version', 'created_at', 'active_seconds', 'tokens'],
  'cost_usd',
]

export function csvOf(sessions: readonly SessionSummary[]): string {
  const rows = sessions.map((session) => [
    session.id,
    stateOf(session).word,
    shortTitleOf(session),
    session.agent_name,
    session.agent_version,
    session.created_at,
    session.active_seconds,
    shortTokensOf(session),
    shortCostOf(session) ?? '',
  ])
  return [columns, ...rows].map((row) => row.map(cell).join(',')).join('\n')
}
