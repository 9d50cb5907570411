/** The panes of a session: what was said beside what was chosen; below 1,280 px the second lies over the first. */
import type { ReactNode } from 'react'
import { talkWords } from '../lib/session/talk-words.ts'
import { words } from '../lib/words.ts'
import { PaneEdge, usePaneWidth } from './resizable.tsx'

const timelineWidth = { usual: 300, least: 220, most: 640 }

type SessionLayoutProps = {
  timeline?: ReactNode
  /** The timeline in one line, above the talk where there is no room beside it. */
  map?: ReactNode
  talk: ReactNode
  inspector: ReactNode
}

export function SessionLayout({ timeline, map, talk, inspector }: SessionLayoutProps) {
  const width = usePaneWidth('timeline', timelineWidth)
  return (
    <div className="relative flex min-h-0 flex-1">
      {timeline !== undefined && timeline !== false && (
        <div
          className="relative flex shrink-0 border-r max-split:hidden"
          style={{ width: width.px }}
        >
          <nav
            aria-label={words.session.timeline}
            className="relative min-w-0 flex-1 overflow-auto"
          >
            {timeline}
          </nav>
          <PaneEdge label={talkWords.timelineWidth} pane={width} side="left" />
        </div>
      )}
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        {map}
        {talk}
      </div>
      {inspector}
    </div>
  )
}

/** The timeline as a view of its own, where the conversation has no room beside it. */
export const TimelinePane = ({ children }: { children: ReactNode }) => (
  <nav
    aria-label={words.session.timeline}
    className="relative min-h-0 min-w-0 flex-1 overflow-auto"
  >
    {children}
  </nav>
)

/** The card that waits for an answer, in reach of a thumb: above the field for messages, and always in view. */
export const AnswerDock = ({ more, children }: { more: string; children: ReactNode }) => (
  <div className="grid max-h-[60vh] shrink-0 gap-1 overflow-auto border-t bg-waiting-quiet [&_[role=group]]:rounded-none [&_[role=group]]:border-0 [&_[role=group]]:bg-transparent [&_[role=group]]:px-4">
    {more !== '' && <p className="px-4 pt-2 text-small text-n9">{more}</p>}
    {children}
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
    className="relative flex h-9 shrink-0 items-center gap-[18px] overflow-x-auto border-b px-4 [&>:last-child]:ml-auto"
    tabIndex={-1}
  >
    {children}
  </div>
)
