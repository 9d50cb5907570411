import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { useCallback } from 'react'
import { catch as orElse, enum as oneOf, object, optional, string } from 'zod/mini'
import type { SessionPageView } from '../features/session/place.ts'
import { sessionPanes, sessionViews } from '../features/session/place.ts'
import { SessionPage } from '../features/session/session-page.tsx'
import { sessionQuery, summaryQuery } from '../features/session/session.ts'
import { useIsPhone } from '../lib/narrow.ts'

const SessionSearch = object({
  view: orElse(optional(oneOf(sessionViews)), undefined),
  event: orElse(optional(string()), undefined),
  thread: orElse(optional(string()), undefined),
  pane: orElse(optional(oneOf([...sessionPanes, 'none'])), undefined),
})

export const Route = createFileRoute('/_app/sessions/$sessionId')({
  validateSearch: (search) => SessionSearch.parse(search),
  // Not awaited: the session is asked for while its page is loaded.
  loader: ({ context, params }) => {
    void context.queryClient.prefetchQuery(sessionQuery(params.sessionId))
    void context.queryClient.prefetchQuery(summaryQuery(params.sessionId))
  },
  component: OneSession,
})

function OneSession() {
  const { sessionId } = Route.useParams()
  const { view = 'talk', event, thread, pane } = Route.useSearch()
  // A phone has room for the details alone: there the event is shown in its place first.
  const usual = useIsPhone() || event === undefined ? undefined : 'event'
  const navigate = useNavigate({ from: Route.fullPath })
  const setPlace = useCallback(
    (change: Partial<SessionPageView>) =>
      void navigate({
        search: (now) => {
          const next = { ...now, ...change }
          const isClosed = 'pane' in change && change.pane === undefined
          return {
            ...next,
            view: next.view === 'talk' ? undefined : next.view,
            // An address that names an event alone shows its details.
            pane: isClosed && next.event !== undefined ? ('none' as const) : next.pane,
          }
        },
        replace: true,
      }),
    [navigate],
  )
  return (
    <SessionPage
      key={sessionId}
      id={sessionId}
      place={{ view, event, thread, pane: pane === 'none' ? undefined : (pane ?? usual) }}
      onPlace={setPlace}
      onOpen={(id) =>
        void navigate({ to: '/sessions/$sessionId', params: { sessionId: id }, search: {} })
      }
    />
  )
}
