/** The sessions of the workspace, page by page. */
import { infiniteQueryOptions } from '@tanstack/react-query'
import { api, dataOf } from '../../lib/api/client.ts'
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
