/** Asks before a page is left whose form differs from what is saved. */
import { useBlocker } from '@tanstack/react-router'
import { words } from '../lib/words.ts'
import { AskBefore } from './ask-before.tsx'

type UnsavedProps = {
  isChanged: boolean
  /** Pages below this address belong to the form: it leads there when it was sent. */
  within?: string
}

const nothing = { isPending: false, error: null }

export function Unsaved({ isChanged, within }: UnsavedProps) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) =>
      isChanged &&
      current.pathname !== next.pathname &&
      (within === undefined || !next.pathname.startsWith(within)),
    enableBeforeUnload: isChanged,
    withResolver: true,
  })
  if (status !== 'blocked') return null
  return (
    <AskBefore
      title={words.unsaved.title}
      verb={words.unsaved.leave}
      isDanger
      action={nothing}
      onConfirm={proceed}
      onClose={reset}
    >
      {words.unsaved.text}
    </AskBefore>
  )
}
