import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { ButtonLink } from '../components/button-link.tsx'
import { Scroll } from '../components/layout.tsx'
import { Page } from '../components/page.tsx'
import { SkillList } from '../features/skills/skill-list.tsx'
import { skillsQuery } from '../features/skills/skills.ts'
import { skillWords as own } from '../features/skills/words.ts'

export const Route = createFileRoute('/_app/skills/')({
  // Not awaited: the list is asked for while its page is loaded.
  loader: ({ context }) => void context.queryClient.prefetchInfiniteQuery(skillsQuery(undefined)),
  component: SkillsPage,
})

function SkillsPage() {
  const navigate = useNavigate()
  const make = (
    <ButtonLink kind="primary" to="/skills/new">
      {own.make}
    </ButtonLink>
  )
  const open = (id: string) => void navigate({ to: '/skills/$skillId', params: { skillId: id } })
  return (
    <Page title={own.title} actions={make}>
      <Scroll>
        <SkillList create={make} onOpen={({ id }) => open(id)} />
      </Scroll>
    </Page>
  )
}
