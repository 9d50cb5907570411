/** Sets a limit, or takes it back: the field, what it does, and the request. */
import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Field } from '../../components/field.tsx'
import { Quiet, Stack } from '../../components/layout.tsx'
import { RequestBox } from '../../components/request-box.tsx'
import { Form } from '../../components/form.tsx'
import { problemsOf } from '../../lib/api/problems.ts'
import { say } from '../../lib/toasts.ts'
import { words } from '../../lib/words.ts'
import type { LimitEdit } from './limits.ts'
import { useLimitSave } from './limits.ts'
import { limitWords as own } from './words.ts'

/** All that a refusal may name is the one field. */
const problemOf = (error: unknown): string | undefined => {
  const { fields, rest } = problemsOf(error, ['limit', 'limits', 'amount'])
  return fields['limit'] ?? fields['limits'] ?? fields['amount'] ?? rest
}

export function LimitDialog({ edit, onClose }: { edit: LimitEdit; onClose: () => void }) {
  const [typed, setTyped] = useState(edit.now)
  const [isWrong, setWrong] = useState(false)
  const save = useLimitSave()
  const value = edit.read(typed)
  const send = (next: number | null) =>
    save.mutate(
      { edit, value: next },
      {
        onSuccess: () => {
          say({ kind: 'done', text: next === null ? own.takenBack : own.saved })
          onClose()
        },
      },
    )
  const submit = () => (value === undefined ? setWrong(true) : send(value))
  return (
    <Dialog
      title={edit.name}
      isWide
      onClose={onClose}
      actions={
        <>
          <Button
            kind="plain"
            offBecause={edit.isOwn ? undefined : own.nothingToTakeBack}
            onClick={() => send(null)}
          >
            {own.takeBack}
          </Button>
          <Button onClick={onClose}>{words.cancel}</Button>
          <Button kind="primary" isBusy={save.isPending} onClick={submit}>
            {own.save}
          </Button>
        </>
      }
    >
      <Form onSubmit={submit}>
        <Stack gap="normal">
          <Quiet>{edit.text}</Quiet>
          <Field
            label={edit.label}
            unit={edit.unit}
            hint={edit.allowed}
            problem={isWrong ? edit.wrong : problemOf(save.error)}
            value={typed}
            onChange={(next) => {
              setTyped(next)
              setWrong(false)
            }}
            autoFocus
          />
          {value !== undefined && <RequestBox call={edit.call(value)} />}
        </Stack>
      </Form>
    </Dialog>
  )
}
