import { commands } from '../lib/commands.ts'
import type { PageCommand } from '../lib/commands.ts'
import { useStore } from '../lib/store.ts'
import { words } from '../lib/words.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Key } from './key.tsx'

const groups: PageCommand['group'][] = ['page', 'go', 'console']

/** All keys that do something now. */
export function KeyHelp({ onClose }: { onClose: () => void }) {
  const keyed = useStore(commands).filter(({ keys }) => keys !== undefined)
  return (
    <Dialog
      title={words.keys.title}
      onClose={onClose}
      actions={<Button onClick={onClose}>{words.close}</Button>}
    >
      {groups.map((group) => {
        const of = keyed.filter((each) => each.group === group)
        return of.length === 0 ? null : (
          <section key={group}>
            <h2 className="pt-2 pb-1 text-small text-n8">{words.keys.groups[group]}</h2>
            <dl className="grid grid-cols-[minmax(0,1fr)_auto] gap-x-4 gap-y-1.5">
              {of.map(({ id, label, keys = '' }) => (
                <div key={id} className="contents">
                  <dt className="text-n10">{label}</dt>
                  <dd className="flex gap-1.5">
                    <span className="sr-only">{keys}</span>
                    {keys.split(' ').map((key) => (
                      <Key key={key} of={key} />
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        )
      })}
    </Dialog>
  )
}
