/** The dialog that asks before something is done, loaded when it is first shown. */
import type { ComponentProps } from 'react'
import { lazy, Suspense } from 'react'
import type { Confirm as ConfirmDialog } from './confirm.tsx'

const Confirm = lazy(async () => ({ default: (await import('./confirm.tsx')).Confirm }))

export const AskBefore = (props: ComponentProps<typeof ConfirmDialog>) => (
  <Suspense>
    <Confirm {...props} />
  </Suspense>
)
