/** The panes of a session: what was said beside what was chosen; below 1,280 px the second lies over the first. */
import type { ReactNode } from 'react'
import { words } from '../lib/words.ts'

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

/** The views of a page, and what stands at their end. */
export const ViewLine = ({ children, end }: { children: ReactNode; end: ReactNode }) => (
  <div className="flex shrink-0 items-center border-b pr-3 [&>[role=tablist]]:min-w-0 [&>[role=tablist]]:flex-1 [&>[role=tablist]]:overflow-x-auto [&>[role=tablist]]:border-b-0">
    {children}
    {end}
  </div>
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
