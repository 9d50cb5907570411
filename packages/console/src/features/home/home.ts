/** How the workspace is: its overview, and the few sessions that a person looks at first. */
import type { QueryClient } from '@tanstack/react-query'
import { queryOptions } from '@tanstack/react-query'
import { api, dataOf } from '../../lib/api/client.ts'
import type { paths } from '../../lib/api/openapi.gen.ts'
import { createStore } from '../../lib/store.ts'
import { tabKey } from '../../lib/tab.ts'

const home = ['home'] as const
/** Asked again this often at the most, however much happens. */
const againMs = 1_000
const shownRows = 8

/** When the person had looked before this page was opened. Null: never, or the service is not asked yet. */
const lookedBefore = createStore<string | null>(null)
let hasLooked = false
const recentMs = 12 * 3_600_000

export const overviewQuery = queryOptions({
  queryKey: [...home, 'overview'],
  queryFn: ({ signal }) => {
    const since = lookedBefore.get()
    const params = { query: { ...(since !== null && { since }) } }
    return dataOf(api.GET('/v1/ext/overview', { params, signal }))
  },
})

/** Notes once, while the page is open, that the person looks: what failed is counted since the time before. */
export async function noteLook(client: QueryClient): Promise<void> {
  // Only people look: a key has no time of its own.
  if (hasLooked || tabKey() !== undefined) return
  hasLooked = true
  const { before } = await dataOf(api.POST('/v1/ext/me/looked'))
  // Who looks several times a day has not forgotten what failed this morning.
  if (before !== null && Date.now() - Date.parse(before) > recentMs) lookedBefore.set(before)
  await client.invalidateQueries({ queryKey: overviewQuery.queryKey })
}

type ListQuery = NonNullable<paths['/v1/ext/sessions']['get']['parameters']['query']>

const sessionsThat = (name: string, query: ListQuery) =>
  queryOptions({
    queryKey: [...home, name],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET('/v1/ext/sessions', { params: { query: { limit: shownRows, ...query } }, signal }),
      ),
  })

/** The oldest comes first: it has waited longest. */
export const asksQuery = sessionsThat('asks', { waiting_on: ['person'], order: 'asc' })
export const runningQuery = sessionsThat('running', { status: ['running'], sort: 'active' })
export const failedQuery = sessionsThat('failed', { failed: 'true', sort: 'active' })

/** Whether the workspace is new: a few of its sessions. */
export const firstSessionsQuery = sessionsThat('first', { limit: 5 })

/** Looks again at everything here, soon after the news. */
export function homeNews(client: QueryClient): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  return () => {
    timer ??= setTimeout(() => {
      timer = undefined
      // The title of the tab counts what asks, also where nobody looks.
      void client.invalidateQueries({ queryKey: overviewQuery.queryKey }, { cancelRefetch: false })
      if (document.visibilityState === 'visible')
        void client.invalidateQueries({ queryKey: home }, { cancelRefetch: false })
    }, againMs)
  }
}
