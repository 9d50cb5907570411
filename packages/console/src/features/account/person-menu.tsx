import { lazy, Suspense } from 'react'
import { PersonFace } from '../../components/rail.tsx'
import type { Me } from '../../lib/api/types.ts'
import { serviceUrl } from '../../lib/place.ts'
import { useStore } from '../../lib/store.ts'
import { isUtc, switchTimeZone } from '../../lib/time-zone.ts'
import { words } from '../../lib/words.ts'
import { forgetKey, useSignOut, workspaceOf } from './account.ts'

const Menu = lazy(async () => ({ default: (await import('../../components/menu.tsx')).Menu }))

export function PersonMenu({ me, isFolded }: { me: Me; isFolded: boolean }) {
  const signOut = useSignOut()
  const { user } = me
  const inUtc = useStore(isUtc)
  const name = user?.name ?? words.frame.byKey
  const face = <PersonFace name={name} role={workspaceOf(me)?.role ?? ''} isFolded={isFolded} />
  const end = user
    ? { label: words.frame.signOut, run: () => signOut.mutate() }
    : { label: words.frame.leaveKey, run: forgetKey }
  return (
    <Suspense fallback={face}>
      <Menu
        label={words.frame.account}
        side="top"
        trigger={face}
        items={[
          { label: words.frame.utc, isChosen: inUtc, run: switchTimeZone },
          {
            label: words.frame.documentation,
            run: () => window.open(`${serviceUrl}/docs/`, '_blank', 'noopener'),
          },
          {
            label: words.frame.interface,
            run: () => window.open(`${serviceUrl}/docs`, '_blank', 'noopener'),
          },
          'line',
          end,
        ]}
      />
    </Suspense>
  )
}
