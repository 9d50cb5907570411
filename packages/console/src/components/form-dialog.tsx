/** A small form over the page: its fields, and what it will send. */
import type { ReactNode } from 'react'
import type { ApiCall } from '../lib/request/api-call.ts'
import { words } from '../lib/words.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Form } from './form.tsx'
import { RequestBox } from './request-box.tsx'

type FormDialogProps = {
  title: string
  call: ApiCall
  /** A verb and its object. */
  verb: string
  isBusy: boolean
  offBecause: string | undefined
  /** What belongs to no field. */
  problem: string | undefined
  onSubmit: () => void
  onClose: () => void
  children: ReactNode
}

export function FormDialog(props: FormDialogProps) {
  const { title, call, verb, isBusy, offBecause, problem, onSubmit, onClose, children } = props
  const submit = () => {
    if (offBecause === undefined && !isBusy) onSubmit()
  }
  return (
    <Dialog
      isWide
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{words.cancel}</Button>
          <Button kind="primary" isBusy={isBusy} offBecause={offBecause} onClick={submit}>
            {verb}
          </Button>
        </>
      }
    >
      <Form onSubmit={submit}>
        {children}
        {/* Enter in a field sends the form. */}
        <input type="submit" hidden />
      </Form>
      {problem !== undefined && (
        <p role="alert" className="text-failed">
          {problem}
        </p>
      )}
      <RequestBox call={call} />
    </Dialog>
  )
}
