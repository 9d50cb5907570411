/** Go anywhere, do anything that the page can do: what the page does comes first. */
import { Dialog } from '@base-ui/react/dialog'
import { Command as CommandList } from 'cmdk'
import { commands } from '../lib/commands.ts'
import type { PageCommand } from '../lib/commands.ts'
import { useStore } from '../lib/store.ts'
import { words } from '../lib/words.ts'
import { IconSearch } from './icons.tsx'
import { Key } from './key.tsx'

const groups: PageCommand['group'][] = ['page', 'go', 'console']

export function Palette({ onClose }: { onClose: () => void }) {
  const all = useStore(commands).filter(({ id }) => id !== 'palette')
  const run = (command: PageCommand) => {
    onClose()
    command.run()
  }
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-10 bg-scrim" />
        <Dialog.Popup
          aria-label={words.search}
          className="fixed top-[12vh] left-1/2 z-10 w-[calc(100vw-32px)] max-w-[520px] -translate-x-1/2 rounded-panel border bg-float shadow-float outline-none"
        >
          <PaletteList all={all} onRun={run} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

/** Every word that was typed stands in the label; a label that begins with it all comes first. */
function scoreOf(label: string, typed: string): number {
  const [name, wanted] = [label.toLowerCase(), typed.trim().toLowerCase()]
  if (name === wanted) return 1
  if (name.startsWith(wanted)) return 0.8
  return wanted.split(/\s+/).every((word) => name.includes(word)) ? 0.5 : 0
}

export const PaletteList = ({
  all,
  onRun,
}: {
  all: readonly PageCommand[]
  onRun: (command: PageCommand) => void
}) => (
  <CommandList label={words.search} loop filter={scoreOf}>
    <div className="flex items-center gap-2.5 border-b px-3.5">
      <IconSearch className="text-n8" />
      <CommandList.Input
        placeholder={words.search}
        className="h-11 min-w-0 flex-1 bg-transparent text-read text-n11 outline-none"
      />
    </div>
    <CommandList.List className="max-h-[46vh] overflow-auto p-1">
      <CommandList.Empty className="px-3 py-4 text-n9">{words.keys.nothing}</CommandList.Empty>
      {groups.map((group) => (
        <CommandList.Group
          key={group}
          heading={words.keys.groups[group]}
          className="[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-small [&_[cmdk-group-heading]]:text-n8"
        >
          {all
            .filter((each) => each.group === group)
            .map((command) => (
              <CommandList.Item
                key={command.id}
                value={command.label}
                onSelect={() => onRun(command)}
                className="flex min-h-8 cursor-default items-center gap-2 rounded-[5px] px-2.5 data-[selected=true]:bg-n4 data-[selected=true]:text-n11"
              >
                <span className="truncate">{command.label}</span>
                <span className="ml-auto flex gap-1.5">
                  {command.keys?.split(' ').map((key) => (
                    <Key key={key} of={key} />
                  ))}
                </span>
              </CommandList.Item>
            ))}
        </CommandList.Group>
      ))}
    </CommandList.List>
  </CommandList>
)
