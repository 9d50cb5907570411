import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { catch as orElse, enum as oneOf, object, optional } from 'zod/mini'
import { Scroll } from '../components/layout.tsx'
import { AgentPage } from '../features/agents/agent-page.tsx'
import { agentQuery } from '../features/agents/agents.ts'
import type { AgentTab } from '../features/agents/tabs.ts'
import { agentTabs } from '../features/agents/tabs.ts'
import { Conversation } from '../features/session/conversation-pane.tsx'
import { SessionList } from '../features/sessions/session-list.tsx'

const AgentSearch = object({ tab: orElse(optional(oneOf(agentTabs)), undefined) })

export const Route = createFileRoute('/_app/agents/$agentId')({
  validateSearch: (search) => AgentSearch.parse(search),
  // Not awaited: the agent is asked for while its page is loaded.
  loader: ({ context, params }) =>
    void context.queryClient.prefetchQuery(agentQuery(params.agentId)),
  component: OneAgent,
})

function OneAgent() {
  const { agentId } = Route.useParams()
  const { tab = 'config' } = Route.useSearch()
  const navigate = useNavigate({ from: Route.fullPath })
  const setTab = (next: AgentTab) =>
    void navigate({ search: { tab: next === 'config' ? undefined : next }, replace: true })
  return (
    <AgentPage
      key={agentId}
      id={agentId}
      tab={tab}
      onTab={setTab}
      onArchived={() => void navigate({ to: '/agents' })}
      trial={(session) => <Conversation key={session} id={session} />}
      sessions={
        <Scroll>
          <SessionList
            filters={{ agent: agentId }}
            onOpen={({ id }) =>
              void navigate({ to: '/sessions/$sessionId', params: { sessionId: id } })
            }
            onClear={() => void navigate({ to: '/sessions/new', search: { agent: agentId } })}
          />
        </Scroll>
      }
    />
  )
}
