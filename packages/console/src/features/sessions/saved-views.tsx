/** The views that a person has saved, as chips above the list, and the button that saves another. */
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { ChipButton } from '../../components/filter-line.tsx'
import type { ChosenFilters } from '../../lib/filters.ts'
import { say } from '../../lib/toasts.ts'
import { words } from '../../lib/words.ts'
import { filtersOfView, useViewRemoval, useViewSave, viewsQuery } from './views.ts'

const Dialog = lazy(async () => ({
  default: (await import('./save-view-dialog.tsx')).SaveViewDialog,
}))

type SavedViewsProps = {
  filters: ChosenFilters
  onChoose: (filters: ChosenFilters) => void
}

const isSame = (one: ChosenFilters, other: ChosenFilters): boolean => {
  const names = Object.keys(one)
  return (
    names.length === Object.keys(other).length && names.every((name) => one[name] === other[name])
  )
}

export function SavedViews({ filters, onChoose }: SavedViewsProps) {
  const { data: views = [] } = useQuery(viewsQuery)
  const [isSaving, setSaving] = useState(false)
  const removal = useViewRemoval()
  const save = useViewSave()
  const isKnown = views.some((view) => isSame(filtersOfView(view.filters), filters))
  const remove = (id: string, name: string, text: string) =>
    removal.mutate(id, {
      onSuccess: () =>
        say({
          kind: 'done',
          text: words.sessions.viewRemoved(name),
          action: {
            label: words.undo,
            run: () => save.mutate({ name, filters: filtersOfView(text) }),
          },
        }),
      onError: ({ message }) => say({ kind: 'failed', text: message }),
    })
  return (
    <>
      {views.map(({ id, name, filters: text }) => (
        <ChipButton
          key={id}
          isChosen={isSame(filtersOfView(text), filters)}
          onChoose={() => onChoose(filtersOfView(text))}
          removeLabel={words.removeOne(name)}
          onRemove={() => remove(id, name, text)}
        >
          {name}
        </ChipButton>
      ))}
      {Object.keys(filters).length > 0 && !isKnown && (
        <Button size="small" kind="plain" onClick={() => setSaving(true)}>
          {words.sessions.saveView}
        </Button>
      )}
      <Suspense>
        {isSaving && <Dialog filters={filters} onClose={() => setSaving(false)} />}
      </Suspense>
    </>
  )
}
