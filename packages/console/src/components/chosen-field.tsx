/** A list of things that were chosen from others: skills, agents. */
import type { ComboChoice } from './combobox.tsx'
import { Combobox } from './combobox.tsx'
import { ListField } from './list-field.tsx'

type ChosenFieldProps = {
  label: string
  hint?: string
  add: string
  none: string
  problem?: string | undefined
  chosen: readonly { id: string; name: string; about?: string }[]
  choices: readonly ComboChoice[]
  onAdd: (id: string) => void
  onRemove: (id: string) => void
}

export function ChosenField(props: ChosenFieldProps) {
  const { label, hint, add, none, problem, chosen, choices, onAdd, onRemove } = props
  const left = choices.filter(({ value }) => !chosen.some(({ id }) => id === value))
  return (
    <ListField label={label} hint={hint} problem={problem} items={chosen} onRemove={onRemove}>
      <Combobox
        key={chosen.length}
        label={add}
        isLabelHidden
        placeholder={add}
        choices={left}
        value=""
        none={none}
        onChange={onAdd}
      />
    </ListField>
  )
}
