import { useState } from 'react'
import { AddLine } from '../../components/add-line.tsx'
import { Field } from '../../components/field.tsx'
import { ListField } from '../../components/list-field.tsx'
import { Select } from '../../components/select.tsx'
import type { DraftManager, DraftPartProps } from './draft.ts'
import { cloudOf, managers, packagesOf } from './draft.ts'
import { environmentWords as own } from './words.ts'

/** Blanks alone part packages: versions of pip have commas. */
const namesOf = (typed: string): string[] => typed.split(/\s+/).filter(Boolean)

export function PackagesField({ draft, onDraft, problem }: DraftPartProps) {
  const [manager, setManager] = useState<DraftManager>('pip')
  const [typed, setTyped] = useState('')
  const named = packagesOf(draft)
  const set = (next: readonly { manager: DraftManager; name: string }[]) => {
    const lists = managers.flatMap((each) => {
      const names = next.filter((one) => one.manager === each).map(({ name }) => name)
      return names.length > 0 ? [[each, [...new Set(names)]] as const] : []
    })
    const { packages: _before, ...config } = cloudOf(draft) ?? { type: 'cloud' as const }
    const packages = lists.length > 0 ? { packages: Object.fromEntries(lists) } : {}
    onDraft({ ...draft, config: { ...config, ...packages } })
  }
  const idOf = (each: { manager: string; name: string }) => `${each.manager} ${each.name}`
  return (
    <ListField
      label={own.fields.packages}
      hint={own.packagesHint}
      problem={problem}
      items={named.map((each) => ({ id: idOf(each), name: each.name, about: each.manager }))}
      onRemove={(id) => set(named.filter((each) => idOf(each) !== id))}
    >
      <AddLine
        verb={own.addPackages}
        offBecause={namesOf(typed).length > 0 ? undefined : own.typePackages}
        onAdd={() => {
          set([...named, ...namesOf(typed).map((name) => ({ manager, name }))])
          setTyped('')
        }}
      >
        <Select
          isLabelHidden
          label={own.fields.manager}
          choices={managers.map((value) => ({ value, label: value }))}
          value={manager}
          onChange={setManager}
        />
        <Field
          isLabelHidden
          label={own.fields.packageNames}
          placeholder={own.packagePlaceholder}
          value={typed}
          onChange={setTyped}
        />
      </AddLine>
    </ListField>
  )
}
