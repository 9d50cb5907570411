/** A small form over the page: its fields, and what it will send. */
import { words } from '../lib/words.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import type { SendProps } from './form.tsx'
import { Form } from './form.tsx'
import { RequestBox } from './request-box.tsx'

type FormDialogProps = SendProps & {
  onClose: () => void
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
