/** The dialog that asks before something is done, loaded when it is first shown. */
import type { ComponentProps } from 'react'
import { lazy, Suspense } from 'react'
import type { Confirm as ConfirmDialog } from './confirm.tsx'

const Confirm = lazy(async () => ({ default: (await import('./confirm.tsx')).Confirm }))

type AskBeforeProps = Omit<ComponentProps<typeof ConfirmDialog>, 'isBusy' | 'problem'> & {
  /** What is done after a yes, as a mutation has it. */
  action: { isPending: boolean; error: Error | null }
}

export const AskBefore = ({ action, ...question }: AskBeforeProps) => (
  <Suspense>
    <Confirm {...question} isBusy={action.isPending} problem={action.error?.message} />
  </Suspense>
)
