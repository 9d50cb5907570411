import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { catch as orElse, object, optional, string } from 'zod/mini'
import { NewSessionPage } from '../features/new-session/new-session-page.tsx'

const Id = orElse(optional(string()), undefined)
const NewSessionSearch = object({ agent: Id, environment: Id })

export const Route = createFileRoute('/_app/sessions/new')({
  validateSearch: (search) => NewSessionSearch.parse(search),
  component: NewSession,
})

function NewSession() {
  const { agent, environment } = Route.useSearch()
  const navigate = useNavigate()
  return (
    <NewSessionPage
      agent={agent}
      environment={environment}
      onBegun={(sessionId) => void navigate({ to: '/sessions/$sessionId', params: { sessionId } })}
    />
  )
}
