import { commands } from '../lib/commands.ts'
import type { PageCommand } from '../lib/commands.ts'
import { useStore } from '../lib/store.ts'
import { words } from '../lib/words.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Key } from './key.tsx'

const groups: PageCommand['group'][] = ['page', 'go', 'console']

type Shortcut = Pick<PageCommand, 'id' | 'label' | 'keys'>

/** A card takes its keys itself, while it has the focus. */
const onCard: readonly Shortcut[] = [
  { id: 'approve', label: words.session.approve, keys: 'y' },
  { id: 'deny', label: words.session.deny, keys: 'n' },
]

/** All keys that do something now. */
export function KeyHelp({ onClose }: { onClose: () => void }) {
  const keyed = useStore(commands).filter(({ keys }) => keys !== undefined)
  return (
    <Dialog
      title={words.keys.title}
      onClose={onClose}
      actions={<Button onClick={onClose}>{words.close}</Button>}
    >
      {groups.map((group) => (
        <KeyGroup
          key={group}
          name={words.keys.groups[group]}
          keyed={keyed.filter((each) => each.group === group)}
        />
      ))}
      <KeyGroup name={words.keys.onCard} keyed={onCard} />
    </Dialog>
  )
}

const KeyGroup = ({ name, keyed }: { name: string; keyed: readonly Shortcut[] }) =>
  keyed.length === 0 ? null : (
    <section>
      <h2 className="pt-2 pb-1 text-small text-n8">{name}</h2>
      <dl className="grid grid-cols-[minmax(0,1fr)_auto] gap-x-4 gap-y-1.5">
        {keyed.map(({ id, label, keys = '' }) => (
          <div key={id} className="contents">
            <dt className="text-n10">{label}</dt>
            <dd className="flex justify-end gap-1.5 pr-1">
              <span className="sr-only">{keys}</span>
              {keys.split(' ').map((key) => (
                <Key key={key} of={key} isForAll />
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
