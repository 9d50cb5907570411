/** The sessions of the workspace in short, page by page, and as the stream says that they are now. */
import type { InfiniteData, QueryClient } from '@tanstack/react-query'
import { api } from '../../lib/api/client.ts'
import type { SessionSummary } from '../../lib/api/types.ts'
import type { ChosenFilters } from '../../lib/filters.ts'
import { pagesQuery } from '../../lib/list-state.ts'
import type { WorkspaceNews } from '../../lib/stream/workspace.ts'
import { sessionQueryOf } from './filters.ts'

/** Lists are asked again this often at the most: rows that are on the screen change at once. */
const againMs = 1_000

const lists = ['sessions', 'list'] as const

export const sessionsQuery = (filters: ChosenFilters) =>
  pagesQuery<SessionSummary>([...lists, filters], (page, signal) =>
    api.GET('/v1/ext/sessions', {
      params: { query: { ...page, ...sessionQueryOf(filters, Date.now()) } },
      signal,
    }),
  )

type ListPages = InfiniteData<{ data: SessionSummary[] }>

/** Shows a session as it is now, wherever it is on the screen. */
function showChange(client: QueryClient, id: string, session: SessionSummary | undefined): void {
  client.setQueriesData<ListPages>({ queryKey: lists }, (list) => {
    const isShown = list?.pages.some(({ data }) => data.some((each) => each.id === id))
    if (!list || !isShown) return list
    const change = (data: SessionSummary[]): SessionSummary[] =>
      data.flatMap((each) => (each.id === id ? (session ?? []) : each))
    return { ...list, pages: list.pages.map((page) => ({ ...page, data: change(page.data) })) }
  })
}

/** Follows the news with the lists: known rows change at once, and new ones come with the next look. */
export function listNews(client: QueryClient): (news: WorkspaceNews) => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const lookSoon = () => {
    timer ??= setTimeout(() => {
      timer = undefined
      // One that runs is not cancelled: on a slow line it would never end.
      void client.invalidateQueries({ queryKey: lists }, { cancelRefetch: false })
    }, againMs)
  }
  return (news) => {
    if (news.kind !== 'missed' && news.noun === 'session')
      showChange(
        client,
        news.id,
        news.kind === 'changed' ? (news.object as SessionSummary) : undefined,
      )
    lookSoon()
  }
}
