import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { useCallback } from 'react'
import { catch as orElse, enum as oneOf, object, optional, string } from 'zod/mini'
import type { SessionTab } from '../features/session/session-talk.tsx'
import { sessionQuery } from '../features/session/session.ts'
import { SessionPage } from '../features/session/session-page.tsx'

const SessionSearch = object({
  view: orElse(optional(oneOf(['talk', 'events'])), undefined),
  event: orElse(optional(string()), undefined),
})

export const Route = createFileRoute('/_app/sessions/$sessionId')({
  validateSearch: (search) => SessionSearch.parse(search),
  // Not awaited: the session is asked for while its page is loaded.
  loader: ({ context, params }) =>
    void context.queryClient.prefetchQuery(sessionQuery(params.sessionId)),
  component: OneSession,
})

function OneSession() {
  const { sessionId } = Route.useParams()
  const { view = 'talk', event } = Route.useSearch()
  const navigate = useNavigate({ from: Route.fullPath })
  const setView = (next: SessionTab) =>
    void navigate({
      search: (now) => ({ ...now, view: next === 'talk' ? undefined : next }),
      replace: true,
    })
  const setEvent = useCallback(
    (next: string | undefined) =>
      void navigate({ search: (now) => ({ ...now, event: next }), replace: true }),
    [navigate],
  )
  return (
    <SessionPage
      key={sessionId}
      id={sessionId}
      view={view}
      event={event}
      onView={setView}
      onEvent={setEvent}
    />
  )
}
