import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { NewEnvironmentPage } from '../features/environments/new-environment-page.tsx'

export const Route = createFileRoute('/_app/environments/new')({ component: NewEnvironment })

function NewEnvironment() {
  const navigate = useNavigate()
  return (
    <NewEnvironmentPage
      onCreated={({ id }) =>
        void navigate({ to: '/environments/$environmentId', params: { environmentId: id } })
      }
    />
  )
}
