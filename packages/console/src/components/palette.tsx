/** Go anywhere, do anything that the page can do, find things by name: with the keyboard alone. */
import { Dialog } from '@base-ui/react/dialog'
import { Command as CommandList } from 'cmdk'
import { useRef, useState } from 'react'
import { words } from '../lib/words.ts'
import { IconSearch } from './icons.tsx'
import { Key } from './key.tsx'

export type PaletteItem = {
  id: string
  label: string
  /** Tells things of one name from each other. */
  beside?: string | undefined
  keys?: string | undefined
  run: () => void
}
export type PaletteGroup = { name: string; items: readonly PaletteItem[] }

type PaletteListProps = {
  typed: string
  onTyped: (typed: string) => void
  /** What fits what was typed, the best first. Ids differ between all of them. */
  groups: readonly PaletteGroup[]
  /** More may come. */
  isSearching?: boolean
  /** What is missing, and why. */
  notes?: readonly string[]
  onRun: (item: PaletteItem) => void
}

export const Palette = ({ onClose, ...list }: PaletteListProps & { onClose: () => void }) => (
  <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
    <Dialog.Portal>
      <Dialog.Backdrop className="fixed inset-0 z-10 bg-scrim" />
      <Dialog.Popup
        aria-label={words.search}
        className="fixed top-[12vh] left-1/2 z-10 w-[calc(100vw-32px)] max-w-[560px] -translate-x-1/2 rounded-panel border bg-float shadow-float outline-none"
      >
        <PaletteList {...list} />
      </Dialog.Popup>
    </Dialog.Portal>
  </Dialog.Root>
)

/** The first row is chosen, also when rows come before it, until a person moves. */
function useChosenRow(groups: readonly PaletteGroup[]) {
  const [chosen, setChosen] = useState<string>()
  const hasMoved = useRef(false)
  const ids = groups.flatMap(({ items }) => items.map(({ id }) => id))
  const begin = () => {
    hasMoved.current = false
    setChosen(undefined)
  }
  return {
    begin,
    value: chosen !== undefined && ids.includes(chosen) ? chosen : (ids[0] ?? ''),
    choose: (id: string) => hasMoved.current && setChosen(id),
    move: () => {
      hasMoved.current = true
    },
  }
}

export function PaletteList({
  typed,
  onTyped,
  groups,
  isSearching = false,
  notes = [],
  onRun,
}: PaletteListProps) {
  const row = useChosenRow(groups)
  return (
    <CommandList
      label={words.search}
      loop
      shouldFilter={false}
      value={row.value}
      onValueChange={row.choose}
      onKeyDownCapture={row.move}
      onPointerMoveCapture={row.move}
    >
      <div className="flex items-center gap-2.5 border-b px-3.5">
        <IconSearch className="text-n8" />
        <CommandList.Input
          value={typed}
          onValueChange={(next) => {
            row.begin()
            onTyped(next)
          }}
          placeholder={words.palette.placeholder}
          className="h-11 min-w-0 flex-1 bg-transparent text-read text-n11 outline-none"
        />
      </div>
      <CommandList.List className="max-h-[52vh] overflow-auto p-1">
        {!isSearching && (
          <CommandList.Empty className="px-2.5 py-3 text-n9">
            {words.keys.nothing}
          </CommandList.Empty>
        )}
        {groups.map(({ name, items }) => (
          <CommandList.Group
            key={name}
            heading={name}
            className="[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-small [&_[cmdk-group-heading]]:text-n8"
          >
            {items.map((item) => (
              <CommandList.Item
                key={item.id}
                value={item.id}
                onSelect={() => onRun(item)}
                className="flex min-h-8 cursor-default items-center gap-3 rounded-[5px] px-2.5 data-[selected=true]:bg-n4 data-[selected=true]:text-n11"
              >
                <span className="min-w-0 truncate">{item.label}</span>
                {item.beside !== undefined && (
                  <span className="ml-auto max-w-[45%] shrink-0 truncate text-small text-n9">
                    {item.beside}
                  </span>
                )}
                {item.keys !== undefined && (
                  <span className="ml-auto flex shrink-0 gap-1.5">
                    {item.keys.split(' ').map((key) => (
                      <Key key={key} of={key} />
                    ))}
                  </span>
                )}
              </CommandList.Item>
            ))}
          </CommandList.Group>
        ))}
      </CommandList.List>
      <PaletteFoot isSearching={isSearching} notes={notes} />
    </CommandList>
  )
}

const PaletteFoot = ({
  isSearching,
  notes,
}: Required<Pick<PaletteListProps, 'isSearching' | 'notes'>>) => (
  <div role="status" className="text-small text-n9">
    {(isSearching || notes.length > 0) && (
      <div className="grid gap-0.5 border-t px-3.5 py-2">
        {isSearching && <span>{words.palette.searching}</span>}
        {notes.map((note) => (
          <span key={note}>{note}</span>
        ))}
      </div>
    )}
  </div>
)
