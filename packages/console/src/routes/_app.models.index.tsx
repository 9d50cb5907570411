import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { ButtonLink } from '../components/button-link.tsx'
import { Scroll } from '../components/layout.tsx'
import { Page } from '../components/page.tsx'
import { ModelList } from '../features/models/model-list.tsx'
import { modelsQuery } from '../features/models/models.ts'
import { modelWords as own } from '../features/models/words.ts'

export const Route = createFileRoute('/_app/models/')({
  // Not awaited: the list is asked for while its page is loaded.
  loader: ({ context }) => void context.queryClient.prefetchInfiniteQuery(modelsQuery),
  component: ModelsPage,
})

function ModelsPage() {
  const navigate = useNavigate()
  const make = (
    <ButtonLink kind="primary" to="/models/new">
      {own.make}
    </ButtonLink>
  )
  return (
    <Page title={own.title} actions={make}>
      <Scroll>
        <ModelList
          create={make}
          onOpen={(cardId) => void navigate({ to: '/models/$cardId', params: { cardId } })}
        />
      </Scroll>
    </Page>
  )
}
