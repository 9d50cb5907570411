/** The palette over the page: what the page does comes first, then places, then things by name. */
import { useState } from 'react'
import type { PaletteGroup } from '../../components/palette.tsx'
import { Palette } from '../../components/palette.tsx'
import { commands } from '../../lib/commands.ts'
import { matching } from '../../lib/matching.ts'
import { useStore } from '../../lib/store.ts'
import { words } from '../../lib/words.ts'
import { usePlaces } from './places.ts'
import { useThings } from './things.ts'

const { groups: names } = words.keys

export function PaletteBox({ onClose }: { onClose: () => void }) {
  const [typed, setTyped] = useState('')
  const all = useStore(commands).filter(({ id }) => id !== 'palette')
  const places = usePlaces()
  const things = useThings(typed)
  const of = (group: keyof typeof names): PaletteGroup => ({
    name: names[group],
    items: all.filter((each) => each.group === group),
  })
  const known = [of('page'), of('go'), ...places, of('console')]
    .map(({ name, items }) => ({ name, items: matching(items, typed, ({ label }) => [label]) }))
    .filter(({ items }) => items.length > 0)
  return (
    <Palette
      typed={typed}
      onTyped={setTyped}
      groups={[...known, ...things.groups]}
      isSearching={things.isSearching}
      notes={things.notes}
      onRun={({ run }) => {
        onClose()
        run()
      }}
      onClose={onClose}
    />
  )
}
