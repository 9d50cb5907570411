import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { catch as orElse, object, optional, string } from 'zod/mini'
import { VaultPage } from '../features/vaults/vault-page.tsx'
import { credentialsQuery, vaultQuery } from '../features/vaults/vaults.ts'

const VaultSearch = object({ credential: orElse(optional(string()), undefined) })

export const Route = createFileRoute('/_app/vaults/$vaultId/')({
  validateSearch: (search) => VaultSearch.parse(search),
  // Not awaited: the vault is asked for while its page is loaded.
  loader: ({ context: { queryClient }, params: { vaultId } }) => {
    void queryClient.prefetchQuery(vaultQuery(vaultId))
    void queryClient.prefetchInfiniteQuery(credentialsQuery(vaultId, false))
  },
  component: OneVault,
})

function OneVault() {
  const { vaultId } = Route.useParams()
  const { credential } = Route.useSearch()
  const navigate = useNavigate({ from: Route.fullPath })
  return (
    <VaultPage
      key={vaultId}
      id={vaultId}
      credential={credential}
      onOpen={(next) => void navigate({ search: { credential: next }, replace: true })}
      onDeleted={() => void navigate({ to: '/vaults' })}
    />
  )
}
