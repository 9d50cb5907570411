import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { ButtonLink } from '../components/button-link.tsx'
import { Scroll } from '../components/layout.tsx'
import { Page } from '../components/page.tsx'
import { EnvironmentList } from '../features/environments/environment-list.tsx'
import { environmentsQuery } from '../features/environments/environments.ts'
import { environmentWords as own } from '../features/environments/words.ts'

export const Route = createFileRoute('/_app/environments/')({
  // Not awaited: the list is asked for while its page is loaded.
  loader: ({ context }) => void context.queryClient.prefetchInfiniteQuery(environmentsQuery(false)),
  component: EnvironmentsPage,
})

function EnvironmentsPage() {
  const navigate = useNavigate()
  const make = (
    <ButtonLink kind="primary" to="/environments/new">
      {own.make}
    </ButtonLink>
  )
  return (
    <Page title={own.title} actions={make}>
      <Scroll>
        <EnvironmentList
          create={make}
          onOpen={({ id }) =>
            void navigate({ to: '/environments/$environmentId', params: { environmentId: id } })
          }
        />
      </Scroll>
    </Page>
  )
}
