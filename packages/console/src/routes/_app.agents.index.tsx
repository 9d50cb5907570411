import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { ButtonLink } from '../components/button-link.tsx'
import { Scroll } from '../components/layout.tsx'
import { Page } from '../components/page.tsx'
import { AgentList } from '../features/agents/agent-list.tsx'
import { agentsQuery } from '../features/agents/agents.ts'
import { agentWords as own } from '../features/agents/words.ts'

export const Route = createFileRoute('/_app/agents/')({
  // Not awaited: the list is asked for while its page is loaded.
  loader: ({ context }) => void context.queryClient.prefetchInfiniteQuery(agentsQuery(false)),
  component: AgentsPage,
})

function AgentsPage() {
  const navigate = useNavigate()
  const make = (
    <ButtonLink kind="primary" to="/agents/new">
      {own.make}
    </ButtonLink>
  )
  return (
    <Page title={own.title} actions={make}>
      <Scroll>
        <AgentList
          create={make}
          onOpen={({ id }) => void navigate({ to: '/agents/$agentId', params: { agentId: id } })}
        />
      </Scroll>
    </Page>
  )
}
