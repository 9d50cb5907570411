import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { catch as orElse, coerce, enum as oneOf, object, optional, string } from 'zod/mini'
import { SkillPage } from '../features/skills/skill-page.tsx'
import { skillTabs } from '../features/skills/tabs.ts'
import { skillQuery, skillVersionsQuery } from '../features/skills/skills.ts'

const SkillSearch = object({
  tab: orElse(optional(oneOf(skillTabs)), undefined),
  // The router reads digits as a number.
  version: orElse(optional(coerce.string()), undefined),
  file: orElse(optional(string()), undefined),
})

export const Route = createFileRoute('/_app/skills/$skillId/')({
  validateSearch: (search) => SkillSearch.parse(search),
  // Not awaited: the skill is asked for while its page is loaded.
  loader: ({ context: { queryClient }, params: { skillId } }) => {
    void queryClient.prefetchQuery(skillQuery(skillId))
    void queryClient.prefetchInfiniteQuery(skillVersionsQuery(skillId))
  },
  component: OneSkill,
})

function OneSkill() {
  const { skillId } = Route.useParams()
  const view = Route.useSearch()
  const navigate = useNavigate({ from: Route.fullPath })
  return (
    <SkillPage
      key={skillId}
      id={skillId}
      view={view}
      onView={({ tab, version, file }) =>
        void navigate({
          search: { tab: tab === 'files' ? undefined : tab, version, file },
          replace: true,
        })
      }
      onDeleted={() => void navigate({ to: '/skills' })}
    />
  )
}
