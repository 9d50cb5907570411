import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { catch as orElse, object, optional, string } from 'zod/mini'
import { NewSessionPage } from '../features/new-session/new-session-page.tsx'

const NewSessionSearch = object({ agent: orElse(optional(string()), undefined) })

export const Route = createFileRoute('/_app/sessions/new')({
  validateSearch: (search) => NewSessionSearch.parse(search),
  component: NewSession,
})

function NewSession() {
  const { agent } = Route.useSearch()
  const navigate = useNavigate()
  return (
    <NewSessionPage
      agent={agent}
      onBegun={(sessionId) => void navigate({ to: '/sessions/$sessionId', params: { sessionId } })}
    />
  )
}
