/** A list, and beside it the one that was opened; below 1,000 px that one alone. */
import type { ReactNode } from 'react'
import { words } from '../lib/words.ts'
import { Button } from './button.tsx'
import { IconClose } from './icons.tsx'

export const ListAndPane = ({ list, pane }: { list: ReactNode; pane: ReactNode | undefined }) => (
  <div
    className={`grid min-h-0 flex-1 ${pane === undefined ? 'grid-cols-[minmax(0,1fr)]' : 'grid-cols-[minmax(0,1fr)_440px] max-split:grid-cols-[minmax(0,1fr)]'}`}
  >
    <div
      className={`relative min-h-0 overflow-auto ${pane === undefined ? '' : 'border-r max-split:hidden'}`}
    >
      {list}
    </div>
    {pane}
  </div>
)

export const SidePane = ({
  title,
  beside,
  onClose,
  children,
}: {
  title: string
  beside?: ReactNode
  onClose: () => void
  children: ReactNode
}) => (
  <section aria-label={title} className="relative min-h-0 overflow-auto">
    <header className="sticky top-0 z-[1] flex min-h-12 flex-wrap items-center gap-x-2.5 gap-y-1 border-b bg-n1 px-4 py-1">
      <h2 dir="auto" className="min-w-0 truncate text-head font-semibold text-n11">
        {title}
      </h2>
      {beside}
      <span className="ml-auto">
        <Button kind="plain" label={words.close} icon={<IconClose />} onClick={onClose} />
      </span>
    </header>
    {children}
  </section>
)

export const PaneSection = ({
  title,
  beside,
  children,
}: {
  title?: string
  beside?: ReactNode
  children: ReactNode
}) => (
  <section className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-2.5 border-b px-4 py-3.5">
    {(title !== undefined || beside !== undefined) && (
      <header className="flex items-center gap-2">
        {title !== undefined && <h3 className="font-semibold text-n11">{title}</h3>}
        <span className="ml-auto text-small text-n9">{beside}</span>
      </header>
    )}
    {children}
  </section>
)

export const FactList = ({ children }: { children: ReactNode }) => (
  <dl className="grid grid-cols-[108px_minmax(0,1fr)] gap-x-3 gap-y-1.5">{children}</dl>
)

export const FactRow = ({ name, children }: { name: string; children: ReactNode }) => (
  <>
    <dt className="text-n9">{name}</dt>
    <dd className="min-w-0 break-words text-n11">{children}</dd>
  </>
)

/** A few lines in which columns matter less than reading: what happened, and when. */
export const PaneLines = ({ children }: { children: ReactNode }) => (
  <ul className="divide-y divide-n3">{children}</ul>
)

export const PaneLine = ({
  sign,
  about,
  end,
  children,
}: {
  sign?: ReactNode
  about?: ReactNode
  end?: ReactNode
  children: ReactNode
}) => (
  <li className="flex min-h-8 items-center gap-2.5 py-1">
    {sign}
    <span className="min-w-0 truncate text-n11">{children}</span>
    {about !== undefined && <span className="min-w-0 flex-1 truncate text-n9">{about}</span>}
    <span className="ml-auto shrink-0 text-n9 tabular-nums">{end}</span>
  </li>
)
