import { lazy, Suspense } from 'react'
import { WorkspaceFace } from '../../components/rail.tsx'
import type { Me } from '../../lib/api/types.ts'
import { words } from '../../lib/words.ts'
import { useWorkspaceChoice, workspaceOf } from './account.ts'

const Menu = lazy(async () => ({ default: (await import('../../components/menu.tsx')).Menu }))

export function WorkspaceMenu({ me, isFolded }: { me: Me; isFolded: boolean }) {
  const choice = useWorkspaceChoice()
  const shown = workspaceOf(me)
  const others = me.workspaces.filter(({ archived_at }) => archived_at === null)
  const isChoice = others.length > 1
  const face = (
    <WorkspaceFace name={shown?.name ?? words.product} isFolded={isFolded} isChoice={isChoice} />
  )
  if (!isChoice) return face
  return (
    <Suspense fallback={face}>
      <Menu
        label={words.frame.workspaces}
        trigger={face}
        items={others.map(({ id, name, role }) => ({
          label: name,
          beside: role,
          isChosen: id === shown?.id,
          run: () => choice.mutate(id),
        }))}
      />
    </Suspense>
  )
}
