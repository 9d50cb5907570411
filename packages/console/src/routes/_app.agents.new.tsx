import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { catch as orElse, object, optional, string } from 'zod/mini'
import { NewAgentPage } from '../features/agents/new-agent-page.tsx'

/** The model that stands in the form at first. */
const NewAgentSearch = object({ model: orElse(optional(string()), undefined) })

export const Route = createFileRoute('/_app/agents/new')({
  validateSearch: (search) => NewAgentSearch.parse(search),
  component: NewAgent,
})

function NewAgent() {
  const navigate = useNavigate()
  const { model } = Route.useSearch()
  return (
    <NewAgentPage
      model={model}
      onCreated={({ id }) => void navigate({ to: '/agents/$agentId', params: { agentId: id } })}
    />
  )
}
