/** A list of things that were chosen from others: skills, agents. */
import { Button } from './button.tsx'
import type { ComboChoice } from './combobox.tsx'
import { Combobox } from './combobox.tsx'
import { FieldGroup, ListBox, ListLine } from './form-page.tsx'
import { words } from '../lib/words.ts'

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
    <FieldGroup label={label} hint={hint} problem={problem}>
      {chosen.length > 0 && (
        <ListBox>
          {chosen.map(({ id, name, about }) => (
            <ListLine key={id} name={name} about={about}>
              <Button
                size="small"
                kind="plain"
                title={words.removeOne(name)}
                onClick={() => onRemove(id)}
              >
                {words.remove}
              </Button>
            </ListLine>
          ))}
        </ListBox>
      )}
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
    </FieldGroup>
  )
}
