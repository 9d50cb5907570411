import { useState } from 'react'
import { AddLine } from '../../components/add-line.tsx'
import { Field } from '../../components/field.tsx'
import { ListField } from '../../components/list-field.tsx'
import type { DraftPartProps } from './draft.ts'
import { environmentWords as own } from './words.ts'

const variable = /^[A-Za-z_]\w*$/

/** Variables of every command. Their values are shown: they are no secrets. */
export function VariablesField({ draft, onDraft, problem }: DraftPartProps) {
  const [name, setName] = useState('')
  const [value, setValue] = useState('')
  const variables = Object.entries(draft.env ?? {})
  const set = (next: readonly (readonly [string, string])[]) =>
    onDraft({ ...draft, env: Object.fromEntries(next) })
  return (
    <ListField
      label={own.fields.variables}
      hint={own.variablesHint}
      problem={problem}
      items={variables.map(([id, about]) => ({ id, name: id, about }))}
      onRemove={(id) => set(variables.filter(([each]) => each !== id))}
    >
      <AddLine
        verb={own.addVariable}
        offBecause={variable.test(name.trim()) ? undefined : own.typeVariable}
        onAdd={() => {
          set([...variables, [name.trim(), value]])
          setName('')
          setValue('')
        }}
      >
        <Field
          isLabelHidden
          label={own.fields.variable}
          placeholder={own.variablePlaceholder}
          value={name}
          onChange={setName}
        />
        <Field
          isLabelHidden
          label={own.fields.value}
          placeholder={own.valuePlaceholder}
          value={value}
          onChange={setValue}
        />
      </AddLine>
    </ListField>
  )
}
