import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { Button } from '../components/button.tsx'
import { Scroll } from '../components/layout.tsx'
import { Page } from '../components/page.tsx'
import { storesQuery } from '../features/memory/memory.ts'
import { StoreList } from '../features/memory/store-list.tsx'
import { storeWords as own } from '../features/memory/words.ts'
import { useReadOnlyReason } from '../lib/rights.ts'

const NewStore = lazy(async () => ({
  default: (await import('../features/memory/store-dialogs.tsx')).NewStore,
}))

export const Route = createFileRoute('/_app/memory/')({
  // Not awaited: the list is asked for while its page is loaded.
  loader: ({ context }) => void context.queryClient.prefetchInfiniteQuery(storesQuery(false)),
  component: MemoryPage,
})

function MemoryPage() {
  const navigate = useNavigate()
  const offBecause = useReadOnlyReason()
  const [isMaking, setMaking] = useState(false)
  const open = (id: string) => void navigate({ to: '/memory/$storeId', params: { storeId: id } })
  const make = (
    <Button kind="primary" offBecause={offBecause} onClick={() => setMaking(true)}>
      {own.make}
    </Button>
  )
  return (
    <Page title={own.title} actions={make}>
      <Scroll>
        <StoreList create={make} onOpen={({ id }) => open(id)} />
      </Scroll>
      <Suspense>
        {isMaking && <NewStore onClose={() => setMaking(false)} onMade={({ id }) => open(id)} />}
      </Suspense>
    </Page>
  )
}
