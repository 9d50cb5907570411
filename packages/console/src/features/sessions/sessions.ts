/** The sessions of the workspace, page by page. */
import { infiniteQueryOptions } from '@tanstack/react-query'
import { api, dataOf } from '../../lib/api/client.ts'
import type { Session } from '../../lib/api/types.ts'
import type { ChosenFilters } from '../../lib/filters.ts'
import { sessionQueryOf } from './filters.ts'

const pageSize = 50

export const sessionsQuery = (filters: ChosenFilters) =>
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
