import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { catch as orElse, enum as oneOf, object, optional, string } from 'zod/mini'
import { storeQuery } from '../features/memory/memory.ts'
import { StorePage } from '../features/memory/store-page.tsx'
import { storeTabs } from '../features/memory/tabs.ts'

const StoreSearch = object({
  tab: orElse(optional(oneOf(storeTabs)), undefined),
  memory: orElse(optional(string()), undefined),
  version: orElse(optional(string()), undefined),
})

export const Route = createFileRoute('/_app/memory/$storeId')({
  validateSearch: (search) => StoreSearch.parse(search),
  // Not awaited: the store is asked for while its page is loaded.
  loader: ({ context, params }) =>
    void context.queryClient.prefetchQuery(storeQuery(params.storeId)),
  component: OneStore,
})

function OneStore() {
  const { storeId } = Route.useParams()
  const view = Route.useSearch()
  const navigate = useNavigate({ from: Route.fullPath })
  return (
    <StorePage
      key={storeId}
      id={storeId}
      view={view}
      onView={({ tab, memory, version }) =>
        void navigate({
          search: { tab: tab === 'memories' ? undefined : tab, memory, version },
          replace: true,
        })
      }
      onDeleted={() => void navigate({ to: '/memory' })}
    />
  )
}
