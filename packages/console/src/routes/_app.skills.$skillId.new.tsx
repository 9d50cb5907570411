import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { NewVersionPage } from '../features/skills/new-version-page.tsx'

export const Route = createFileRoute('/_app/skills/$skillId/new')({ component: NewVersion })

function NewVersion() {
  const { skillId } = Route.useParams()
  const navigate = useNavigate()
  return (
    <NewVersionPage
      key={skillId}
      skill={skillId}
      onMade={() =>
        void navigate({
          to: '/skills/$skillId',
          params: { skillId },
          search: { tab: 'versions' },
        })
      }
    />
  )
}
