/** The name of a thing, and what it is for, in a row. */
import { Field } from './field.tsx'
import { FieldRow } from './form-page.tsx'

type NamedDraft = { name?: string; description?: string | null }

type NameFieldsProps = {
  of: { name: string; namePlaceholder: string; description: string }
  draft: NamedDraft
  problems: Record<string, string>
  isNew: boolean
  onChange: (part: { name: string } | { description: string }) => void
}

export const NameFields = ({ of, draft, problems, isNew, onChange }: NameFieldsProps) => (
  <FieldRow>
    <Field
      label={of.name}
      placeholder={of.namePlaceholder}
      value={draft.name ?? ''}
      problem={problems['name']}
      onChange={(name) => onChange({ name })}
      autoFocus={isNew}
    />
    <Field
      label={of.description}
      value={draft.description ?? ''}
      problem={problems['description']}
      onChange={(description) => onChange({ description })}
    />
  </FieldRow>
)
