/** A list that comes page by page, as a table takes it. */
import { infiniteQueryOptions } from '@tanstack/react-query'
import type { InfiniteData, QueryKey, UseInfiniteQueryResult } from '@tanstack/react-query'
import { dataOf } from './api/client.ts'

export type ListState<Row> = {
  /** Undefined while the first page comes. */
  rows: readonly Row[] | undefined
  error: Error | null
  again: () => void
  /** Undefined where all are shown. */
  more: (() => void) | undefined
  isLoadingMore: boolean
}

export type ListPage<Row> = { data: Row[]; next_page?: string | null }

type Ask<Row> = (
  query: { limit: number; page?: string },
  signal: AbortSignal,
) => Promise<{ data?: ListPage<Row> }>

const pageSize = 50

/** A list of the service. `ask` sends the request of one page. */
export const pagesQuery = <Row>(queryKey: QueryKey, ask: Ask<Row>) =>
  infiniteQueryOptions({
    queryKey,
    queryFn: ({ pageParam, signal }) =>
      dataOf(ask({ limit: pageSize, ...(pageParam !== '' && { page: pageParam }) }, signal)),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_page ?? undefined,
  })

export function listStateOf<Row>(
  query: UseInfiniteQueryResult<InfiniteData<ListPage<Row>>>,
): ListState<Row> {
  return {
    rows: query.data?.pages.flatMap(({ data }) => data),
    error: query.error,
    again: () => void query.refetch(),
    more: query.hasNextPage ? () => void query.fetchNextPage() : undefined,
    isLoadingMore: query.isFetchingNextPage,
  }
}
