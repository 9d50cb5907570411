import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Field } from '../../components/field.tsx'
import { Form } from '../../components/form.tsx'
import type { ChosenFilters } from '../../lib/filters.ts'
import { words } from '../../lib/words.ts'
import { useViewSave } from './views.ts'

type SaveViewDialogProps = { filters: ChosenFilters; onClose: () => void }

export function SaveViewDialog({ filters, onClose }: SaveViewDialogProps) {
  const [name, setName] = useState('')
  const save = useViewSave()
  const submit = () => save.mutate({ name: name.trim(), filters }, { onSuccess: onClose })
  return (
    <Dialog
      title={words.sessions.saveView}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{words.cancel}</Button>
          <Button kind="primary" isBusy={save.isPending} onClick={submit}>
            {words.sessions.save}
          </Button>
        </>
      }
    >
      <Form onSubmit={submit}>
        <Field
          label={words.sessions.viewName}
          hint={words.sessions.viewHint}
          value={name}
          problem={save.error?.message}
          onChange={setName}
          autoFocus
        />
      </Form>
    </Dialog>
  )
}
