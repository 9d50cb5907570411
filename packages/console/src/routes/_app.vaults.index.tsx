import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { Button } from '../components/button.tsx'
import { Scroll } from '../components/layout.tsx'
import { Page } from '../components/page.tsx'
import { VaultList } from '../features/vaults/vault-list.tsx'
import { vaultsQuery } from '../features/vaults/vaults.ts'
import { vaultWords as own } from '../features/vaults/words.ts'
import { useReadOnlyReason } from '../lib/rights.ts'

const NewVault = lazy(async () => ({
  default: (await import('../features/vaults/vault-dialogs.tsx')).NewVault,
}))

export const Route = createFileRoute('/_app/vaults/')({
  // Not awaited: the list is asked for while its page is loaded.
  loader: ({ context }) => void context.queryClient.prefetchInfiniteQuery(vaultsQuery(false)),
  component: VaultsPage,
})

function VaultsPage() {
  const navigate = useNavigate()
  const readOnly = useReadOnlyReason()
  const [isMaking, setMaking] = useState(false)
  const open = (id: string) => void navigate({ to: '/vaults/$vaultId', params: { vaultId: id } })
  const make = (
    <Button kind="primary" offBecause={readOnly} onClick={() => setMaking(true)}>
      {own.make}
    </Button>
  )
  return (
    <Page title={own.title} actions={make}>
      <Scroll>
        <VaultList create={make} onOpen={({ id }) => open(id)} />
      </Scroll>
      <Suspense>
        {isMaking && <NewVault onClose={() => setMaking(false)} onMade={({ id }) => open(id)} />}
      </Suspense>
    </Page>
  )
}
