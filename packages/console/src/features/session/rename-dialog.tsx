import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Field } from '../../components/field.tsx'
import { Form } from '../../components/form.tsx'
import { api, dataOf } from '../../lib/api/client.ts'
import { words } from '../../lib/words.ts'
import { sessionQuery, summaryQuery } from './session.ts'

const { menu: own } = words.session

type RenameDialogProps = { session: { id: string }; title: string; onClose: () => void }

export function RenameDialog({ session: { id }, title, onClose }: RenameDialogProps) {
  const [name, setName] = useState(title)
  const client = useQueryClient()
  const rename = useMutation({
    mutationFn: () =>
      dataOf(
        api.POST('/v1/sessions/{id}', { params: { path: { id } }, body: { title: name.trim() } }),
      ),
    onSuccess: () => {
      void client.invalidateQueries(sessionQuery(id))
      void client.invalidateQueries(summaryQuery(id))
      onClose()
    },
  })
  const submit = () => rename.mutate()
  return (
    <Dialog
      title={own.rename}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{words.cancel}</Button>
          <Button kind="primary" isBusy={rename.isPending} onClick={submit}>
            {own.rename}
          </Button>
        </>
      }
    >
      <Form onSubmit={submit}>
        <Field
          label={own.title}
          value={name}
          problem={rename.error?.message}
          onChange={setName}
          autoFocus
        />
      </Form>
    </Dialog>
  )
}
