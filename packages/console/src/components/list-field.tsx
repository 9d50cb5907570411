/** A list that a form makes longer and shorter: each thing with a way to remove it, and below how another is added. */
import type { ReactNode } from 'react'
import { words } from '../lib/words.ts'
import { Button } from './button.tsx'
import { FieldGroup, ListBox, ListLine } from './form-page.tsx'

type ListFieldProps = {
  label: string
  hint?: ReactNode
  problem?: string | undefined
  items: readonly { id: string; name: string; about?: string }[]
  onRemove: (id: string) => void
  children: ReactNode
}

export const ListField = ({ label, hint, problem, items, onRemove, children }: ListFieldProps) => (
  <FieldGroup label={label} hint={hint} problem={problem}>
    {items.length > 0 && (
      <ListBox>
        {items.map(({ id, name, about }) => (
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
    {children}
  </FieldGroup>
)
