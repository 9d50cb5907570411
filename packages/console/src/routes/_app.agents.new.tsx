import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { NewAgentPage } from '../features/agents/new-agent-page.tsx'

export const Route = createFileRoute('/_app/agents/new')({ component: NewAgent })

function NewAgent() {
  const navigate = useNavigate()
  return (
    <NewAgentPage
      onCreated={({ id }) => void navigate({ to: '/agents/$agentId', params: { agentId: id } })}
    />
  )
}
