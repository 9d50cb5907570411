/** Asks before what cannot be taken back: the text says what will happen, and the safe answer has the focus. */
import type { ReactNode } from 'react'
import { useRef } from 'react'
import { words } from '../lib/words.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'

type ConfirmProps = {
  title: string
  children: ReactNode
  /** A verb and its object. */
  verb: string
  isDanger?: boolean
  isBusy?: boolean
  problem?: string | undefined
  /** Why it cannot be confirmed yet. */
  offBecause?: string | undefined
  onConfirm: () => void
  onClose: () => void
}

export function Confirm(props: ConfirmProps) {
  const { title, children, verb, isDanger = false, isBusy = false, problem, offBecause } = props
  const safe = useRef<HTMLButtonElement>(null)
  return (
    <Dialog
      title={title}
      onClose={props.onClose}
      firstFocus={safe}
      actions={
        <>
          <Button ref={safe} onClick={props.onClose}>
            {words.cancel}
          </Button>
          <Button
            kind={isDanger ? 'danger' : 'primary'}
            isBusy={isBusy}
            offBecause={offBecause}
            onClick={props.onConfirm}
          >
            {verb}
          </Button>
        </>
      }
    >
      <div className="text-n10">{children}</div>
      {problem !== undefined && (
        <p role="alert" className="text-failed">
          {problem}
        </p>
      )}
    </Dialog>
  )
}
