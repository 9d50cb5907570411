/** The form of a new key, and beside it the request. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Choices } from '../../components/choices.tsx'
import { Combobox } from '../../components/combobox.tsx'
import { Field } from '../../components/field.tsx'
import { FieldGroup, FieldRow, Fields } from '../../components/form-page.tsx'
import { PanelForm } from '../../components/panel-form.tsx'
import { Select } from '../../components/select.tsx'
import { environmentChoices } from '../../lib/api/choices.ts'
import type { Problems } from '../../lib/api/problems.ts'
import { problemsOf } from '../../lib/api/problems.ts'
import type { ApiKeyWithValue } from '../../lib/api/types.ts'
import { jsonOf } from '../../lib/request/api-call.ts'
import { useNoAdminReason, useReadOnlyReason } from '../../lib/rights.ts'
import type { KeyDraft } from './draft.ts'
import { bodyOf, keyEnds, keyFields, keyRights, missingOf, newKey } from './draft.ts'
import { useKeyCreate } from './keys.ts'
import { keyWords as own } from './words.ts'

export function KeyForm({
  onMade,
  onClose,
}: {
  onMade: (key: ApiKeyWithValue) => void
  onClose: () => void
}) {
  const [draft, setDraft] = useState(newKey)
  const [from] = useState(Date.now)
  const create = useKeyCreate()
  const readOnly = useReadOnlyReason()
  const body = bodyOf(draft, from)
  const problems = problemsOf(create.error, keyFields)
  const missing = missingOf(draft)
  return (
    <PanelForm
      title={own.newKey}
      call={{ method: 'POST', path: '/v1/ext/api_keys', body: jsonOf(body) }}
      verb={own.create}
      isBusy={create.isPending}
      offBecause={readOnly ?? (missing && own.missing[missing])}
      problem={problems.rest}
      onSubmit={() => create.mutate(body, { onSuccess: onMade })}
      onCancel={onClose}
    >
      <KeyFields draft={draft} onDraft={setDraft} problems={problems} />
    </PanelForm>
  )
}

type KeyFieldsProps = {
  draft: KeyDraft
  onDraft: (draft: KeyDraft) => void
  problems: Problems
}

function KeyFields({ draft, onDraft, problems: { fields } }: KeyFieldsProps) {
  const noAdmin = useNoAdminReason()
  return (
    <Fields>
      <Field
        label={own.fields.name}
        placeholder={own.fields.namePlaceholder}
        hint={own.fields.nameHint}
        problem={fields['name']}
        value={draft.name}
        onChange={(name) => onDraft({ ...draft, name })}
        autoFocus
      />
      <Select
        label={own.fields.rights}
        hint={own.rightsHint[draft.rights]}
        problem={fields['admin'] ?? fields['read_only']}
        choices={keyRights.map((value) => ({
          value,
          label: own.rights[value],
          ...(noAdmin !== undefined &&
            (value === 'admin' || value === 'work') && { offBecause: noAdmin }),
        }))}
        value={draft.rights}
        onChange={(rights) => onDraft({ ...draft, rights })}
      />
      {draft.rights === 'work' && <WorkFields draft={draft} onDraft={onDraft} fields={fields} />}
      <FieldRow>
        <Select
          label={own.fields.ends}
          problem={fields['expires_at']}
          choices={keyEnds.map((value) => ({ value, label: own.ends[value] }))}
          value={draft.ends}
          onChange={(ends) => onDraft({ ...draft, ends })}
        />
        {draft.ends === 'day' && (
          <Field
            label={own.fields.day}
            type="date"
            hint={own.fields.dayHint}
            value={draft.day}
            onChange={(day) => onDraft({ ...draft, day })}
          />
        )}
      </FieldRow>
    </Fields>
  )
}

function WorkFields({
  draft,
  onDraft,
  fields,
}: Pick<KeyFieldsProps, 'draft' | 'onDraft'> & { fields: Problems['fields'] }) {
  const { data: environments = [] } = useQuery(environmentChoices)
  return (
    <>
      <Combobox
        label={own.fields.environment}
        hint={own.fields.environmentHint}
        problem={fields['environment_id']}
        none={own.noEnvironment}
        choices={environments.map(({ id, name }) => ({ value: id, label: name }))}
        value={draft.environment}
        onChange={(environment) => onDraft({ ...draft, environment })}
      />
      <FieldGroup label={own.fields.reach} problem={fields['reach']}>
        <Choices
          label={own.fields.reach}
          choices={(['work', 'sessions'] as const).map((value) => ({
            value,
            label: own.reach[value],
          }))}
          value={draft.reach}
          onChange={(reach) => onDraft({ ...draft, reach })}
        />
      </FieldGroup>
    </>
  )
}
