/** Several calls of one tool: what each would do, and one decision for all of them. */
import { useRef } from 'react'
import { words } from '../lib/words.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { HiddenShown } from './hidden-shown.tsx'

type ApprovalListProps = {
  title: string
  /** An input that is cut cannot be decided here: nobody has seen all of it. */
  inputs: readonly { id: string; text: string; isCut: boolean }[]
  isBusy: boolean
  problem?: string | undefined
  onDecide: (isAllowed: boolean) => void
  onClose: () => void
}

export function ApprovalList({
  title,
  inputs,
  isBusy,
  problem,
  onDecide,
  onClose,
}: ApprovalListProps) {
  const safe = useRef<HTMLButtonElement>(null)
  const off = inputs.some(({ isCut }) => isCut) ? words.session.cutInputs : undefined
  return (
    <Dialog
      title={title}
      onClose={onClose}
      firstFocus={safe}
      isWide
      actions={
        <>
          <Button ref={safe} kind="plain" onClick={onClose}>
            {words.cancel}
          </Button>
          <Button isBusy={isBusy} onClick={() => onDecide(false)}>
            {words.session.denyAll}
          </Button>
          <Button kind="yes" isBusy={isBusy} offBecause={off} onClick={() => onDecide(true)}>
            {words.session.approveAll}
          </Button>
        </>
      }
    >
      <ol className="grid list-decimal gap-2 pl-5">
        {inputs.map(({ id, text }) => (
          <li key={id}>
            <pre className="overflow-auto rounded-base border bg-n1 px-3 py-2 font-mono text-small leading-[1.6] whitespace-pre-wrap text-n11">
              <HiddenShown text={text} />
            </pre>
          </li>
        ))}
      </ol>
      {(problem ?? off) !== undefined && (
        <p role="alert" className={problem === undefined ? 'text-n9' : 'text-failed'}>
          {problem ?? off}
        </p>
      )}
    </Dialog>
  )
}
