import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { NewSkillPage } from '../features/skills/new-skill-page.tsx'

export const Route = createFileRoute('/_app/skills/new')({ component: NewSkill })

function NewSkill() {
  const navigate = useNavigate()
  return (
    <NewSkillPage
      onMade={({ id }) => void navigate({ to: '/skills/$skillId', params: { skillId: id } })}
    />
  )
}
