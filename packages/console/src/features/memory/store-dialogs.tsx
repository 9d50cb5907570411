/** Makes a memory store, and changes what one is called and is for. */
import { useState } from 'react'
import { Field } from '../../components/field.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import type { Problems } from '../../lib/api/problems.ts'
import { problemsOf } from '../../lib/api/problems.ts'
import type { MemoryStore } from '../../lib/api/types.ts'
import { useReadOnlyReason } from '../../lib/rights.ts'
import { say } from '../../lib/toasts.ts'
import { useStoreChange, useStoreCreate } from './memory.ts'
import { storeWords as own } from './words.ts'

type StoreDraft = { name: string; description: string }

const fieldNames = ['name', 'description']
const trimmed = ({ name, description }: StoreDraft): StoreDraft => ({
  name: name.trim(),
  description: description.trim(),
})

function StoreFields({
  draft,
  onDraft,
  fields,
}: {
  draft: StoreDraft
  onDraft: (draft: StoreDraft) => void
  fields: Problems['fields']
}) {
  return (
    <>
      <Field
        label={own.fields.name}
        placeholder={own.fields.namePlaceholder}
        value={draft.name}
        problem={fields['name']}
        onChange={(name) => onDraft({ ...draft, name })}
      />
      <Field
        label={own.fields.about}
        placeholder={own.fields.aboutPlaceholder}
        hint={own.fields.aboutHint}
        value={draft.description}
        problem={fields['description']}
        onChange={(description) => onDraft({ ...draft, description })}
      />
    </>
  )
}

export function NewStore({
  onMade,
  onClose,
}: {
  onMade: (store: MemoryStore) => void
  onClose: () => void
}) {
  const [draft, setDraft] = useState<StoreDraft>({ name: '', description: '' })
  const create = useStoreCreate()
  const readOnly = useReadOnlyReason()
  const { fields, rest } = problemsOf(create.error, fieldNames)
  const { name, description } = trimmed(draft)
  const body = { name, ...(description !== '' && { description }) }
  const submit = () =>
    create.mutate(body, {
      onSuccess: (store) => {
        say({ kind: 'done', text: own.made(store.name) })
        onMade(store)
      },
    })
  return (
    <FormDialog
      title={own.make}
      verb={own.makeVerb}
      isBusy={create.isPending}
      offBecause={readOnly ?? (name === '' ? own.nameMissing : undefined)}
      problem={rest}
      call={{ method: 'POST', path: '/v1/memory_stores', client: 'beta.memoryStores.create', body }}
      onClose={onClose}
      onSubmit={submit}
    >
      <StoreFields draft={draft} onDraft={setDraft} fields={fields} />
    </FormDialog>
  )
}

export function ChangeStore({ store, onClose }: { store: MemoryStore; onClose: () => void }) {
  const [draft, setDraft] = useState<StoreDraft>(store)
  const change = useStoreChange(store.id)
  const { fields, rest } = problemsOf(change.error, fieldNames)
  const body = trimmed(draft)
  return (
    <FormDialog
      title={own.changeTitle(store.name)}
      verb={own.changeVerb}
      isBusy={change.isPending}
      offBecause={body.name === '' ? own.nameMissing : undefined}
      problem={rest}
      call={{
        method: 'POST',
        path: `/v1/memory_stores/${store.id}`,
        client: 'beta.memoryStores.update',
        args: [store.id],
        body,
      }}
      onClose={onClose}
      onSubmit={() =>
        change.mutate(body, {
          onSuccess: ({ name }) => {
            say({ kind: 'done', text: own.changed(name) })
            onClose()
          },
        })
      }
    >
      <StoreFields draft={draft} onDraft={setDraft} fields={fields} />
    </FormDialog>
  )
}
