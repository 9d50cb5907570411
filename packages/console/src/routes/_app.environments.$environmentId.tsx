import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { catch as orElse, enum as oneOf, object, optional } from 'zod/mini'
import { ButtonLink } from '../components/button-link.tsx'
import { Scroll } from '../components/layout.tsx'
import { Empty } from '../components/notices.tsx'
import { EnvironmentPage } from '../features/environments/environment-page.tsx'
import { environmentQuery, environmentTabs } from '../features/environments/environments.ts'
import { environmentWords as own } from '../features/environments/words.ts'
import { SessionList } from '../features/sessions/session-list.tsx'

const EnvironmentSearch = object({ tab: orElse(optional(oneOf(environmentTabs)), undefined) })

export const Route = createFileRoute('/_app/environments/$environmentId')({
  validateSearch: (search) => EnvironmentSearch.parse(search),
  // Not awaited: the environment is asked for while its page is loaded.
  loader: ({ context, params }) =>
    void context.queryClient.prefetchQuery(environmentQuery(params.environmentId)),
  component: OneEnvironment,
})

function OneEnvironment() {
  const { environmentId } = Route.useParams()
  const { tab } = Route.useSearch()
  const navigate = useNavigate({ from: Route.fullPath })
  const open = (sessionId: string) =>
    void navigate({ to: '/sessions/$sessionId', params: { sessionId } })
  return (
    <EnvironmentPage
      key={environmentId}
      id={environmentId}
      tab={tab}
      onTab={(next) => void navigate({ search: { tab: next }, replace: true })}
      onGone={() => void navigate({ to: '/environments' })}
      onSession={open}
      sessions={
        <Scroll>
          <SessionList
            filters={{ environment: environmentId }}
            onOpen={({ id }) => open(id)}
            empty={
              <Empty
                action={
                  <ButtonLink to="/sessions/new" search={{ environment: environmentId }}>
                    {own.newSession}
                  </ButtonLink>
                }
              >
                {own.noSessions}
              </Empty>
            }
          />
        </Scroll>
      }
    />
  )
}
