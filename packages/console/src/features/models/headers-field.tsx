import { useState } from 'react'
import { AddLine } from '../../components/add-line.tsx'
import { Button } from '../../components/button.tsx'
import { Field } from '../../components/field.tsx'
import { FieldGroup, ListBox, ListLine } from '../../components/form-page.tsx'
import { ListField } from '../../components/list-field.tsx'
import { modelWords as own } from './words.ts'

type HeadersFieldProps = {
  /** Names of the headers that the card has. */
  kept: readonly string[]
  /** Undefined: they stay. */
  headers: Record<string, string> | undefined
  problem: string | undefined
  onHeaders: (headers: Record<string, string>) => void
}

/** Values of headers are secrets: those that the card has are replaced together, or stay. */
export function HeadersField({ kept, headers, problem, onHeaders }: HeadersFieldProps) {
  const [name, setName] = useState('')
  const [value, setValue] = useState('')
  if (headers === undefined && kept.length > 0)
    return (
      <FieldGroup
        label={own.fields.headers}
        hint={own.headersHint}
        problem={problem}
        action={
          <Button size="small" kind="plain" onClick={() => onHeaders({})}>
            {own.replaceHeaders}
          </Button>
        }
      >
        <ListBox>
          {kept.map((each) => (
            <ListLine key={each} name={each} about={own.headerSet} />
          ))}
        </ListBox>
      </FieldGroup>
    )
  const set = Object.entries(headers ?? {})
  const isWhole = name.trim() !== '' && value !== ''
  return (
    <ListField
      label={own.fields.headers}
      hint={own.headersHint}
      problem={problem}
      items={set.map(([id]) => ({ id, name: id, about: own.headerSet }))}
      onRemove={(id) => onHeaders(Object.fromEntries(set.filter(([each]) => each !== id)))}
    >
      <AddLine
        verb={own.addHeader}
        offBecause={isWhole ? undefined : own.typeHeader}
        onAdd={() => {
          onHeaders({ ...headers, [name.trim()]: value })
          setName('')
          setValue('')
        }}
      >
        <Field
          isLabelHidden
          label={own.headerName}
          placeholder={own.headerPlaceholder}
          value={name}
          onChange={setName}
        />
        <Field
          isLabelHidden
          type="password"
          label={own.headerValue}
          placeholder={own.valuePlaceholder}
          value={value}
          onChange={setValue}
        />
      </AddLine>
    </ListField>
  )
}
