import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { NewCredentialPage } from '../features/vaults/new-credential-page.tsx'

export const Route = createFileRoute('/_app/vaults/$vaultId/new')({ component: NewCredential })

function NewCredential() {
  const { vaultId } = Route.useParams()
  const navigate = useNavigate()
  return (
    <NewCredentialPage
      vault={vaultId}
      onAdded={({ id }) =>
        void navigate({ to: '/vaults/$vaultId', params: { vaultId }, search: { credential: id } })
      }
    />
  )
}
