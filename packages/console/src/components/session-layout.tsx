/** The panes of a session: what was said beside what was chosen; below 1,280 px the second lies over the first. */
import type { ReactNode } from 'react'
import { words } from '../lib/words.ts'
import { IconClose } from './icons.tsx'

export const SessionLayout = ({
  timeline,
  talk,
  inspector,
}: {
  timeline?: ReactNode
  talk: ReactNode
  inspector: ReactNode
}) => (
  <div className="relative flex min-h-0 flex-1">
    {timeline !== undefined && timeline !== false && (
      <nav
        aria-label={words.session.timeline}
        className="relative w-[300px] shrink-0 overflow-auto border-r max-split:hidden"
      >
        {timeline}
      </nav>
    )}
    <div className="flex min-h-0 min-w-0 flex-1 flex-col">{talk}</div>
    {inspector}
  </div>
)

export const Inspector = ({
  title,
  children,
  onClose,
}: {
  title: string
  children: ReactNode
  onClose: () => void
}) => (
  <aside
    aria-label={title}
    className="flex w-[360px] shrink-0 flex-col border-l bg-n1 max-wide:absolute max-wide:inset-y-0 max-wide:right-0 max-wide:shadow-float max-phone:w-full max-phone:border-l-0"
  >
    <header className="flex h-9 shrink-0 items-center border-b px-4">
      <h2 className="font-semibold text-n11">{title}</h2>
      <button
        type="button"
        aria-label={words.session.closeInspector}
        onClick={onClose}
        className="ml-auto grid size-6 place-items-center rounded-base text-n9 hover:bg-n3"
      >
        <IconClose />
      </button>
    </header>
    <div className="relative min-h-0 flex-1 overflow-auto p-4">{children}</div>
  </aside>
)

/** Names and values of a thing. */
export const Facts = ({
  facts,
}: {
  facts: readonly (readonly [name: string, value: ReactNode])[]
}) => (
  <dl className="grid grid-cols-[92px_minmax(0,1fr)] gap-x-3 gap-y-1.5">
    {facts.map(([name, value]) => (
      <div key={name} className="contents">
        <dt className="text-n8">{name}</dt>
        <dd className="min-w-0 text-n11">{value}</dd>
      </div>
    ))}
  </dl>
)

/** One line of facts below the heading of a page. */
export const FactLine = ({ children }: { children: ReactNode }) => (
  <div
    className="relative flex h-9 shrink-0 items-center gap-[18px] overflow-x-auto border-b px-4"
    tabIndex={-1}
  >
    {children}
  </div>
)
