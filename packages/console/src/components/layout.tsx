/** Boxes: features and routes put pieces together with these, and name no class. */
import type { ReactNode } from 'react'

const gaps = { none: 'gap-0', small: 'gap-1', normal: 'gap-2', wide: 'gap-4', page: 'gap-6' }
type GapSize = keyof typeof gaps

export const Row = ({
  gap = 'normal',
  isWrapped = false,
  isSpread = false,
  children,
}: {
  gap?: GapSize
  isWrapped?: boolean
  isSpread?: boolean
  children: ReactNode
}) => (
  <div
    className={`flex min-w-0 items-center ${gaps[gap]} ${isWrapped ? 'flex-wrap' : ''} ${isSpread ? 'justify-between' : ''}`}
  >
    {children}
  </div>
)

export const Stack = ({ gap = 'wide', children }: { gap?: GapSize; children: ReactNode }) => (
  <div className={`grid min-w-0 content-start ${gaps[gap]}`}>{children}</div>
)

/** The part of a page that scrolls. */
export const Scroll = ({
  children,
  isPadded = false,
}: {
  children: ReactNode
  isPadded?: boolean
}) => (
  <div
    className={`relative min-h-0 flex-1 overflow-auto ${isPadded ? 'px-6 pt-5 pb-8 max-phone:px-4' : ''}`}
    tabIndex={-1}
  >
    {children}
  </div>
)

export const Quiet = ({
  children,
  isSmall = false,
}: {
  children: ReactNode
  isSmall?: boolean
}) => <span className={`text-n9 ${isSmall ? 'text-small' : ''}`}>{children}</span>

/** One column of a page with few words: a form, a message. */
export const Column = ({ children }: { children: ReactNode }) => (
  <div className="mx-auto grid w-full max-w-[360px] content-start gap-4 px-4 pt-[18vh] pb-12">
    {children}
  </div>
)

/** A line of choices above a list. */
export const ToolLine = ({ children }: { children: ReactNode }) => (
  <div className="flex min-h-10 shrink-0 flex-wrap items-center gap-x-4 gap-y-1 border-b px-4 py-1">
    {children}
  </div>
)

/** A list beside what was chosen from it; below 1,000 px one stands above the other. */
export const ListAndOne = ({ list, one }: { list: ReactNode; one: ReactNode }) => (
  <div className="grid min-h-0 flex-1 grid-cols-[280px_minmax(0,1fr)] max-split:block max-split:overflow-auto">
    <div className="relative min-h-0 overflow-auto border-r max-split:max-h-[240px] max-split:border-r-0 max-split:border-b">
      {list}
    </div>
    <div className="relative min-h-0 overflow-auto p-4">{one}</div>
  </div>
)

/** A row of a list beside what it opens. */
export const ListChoice = ({
  isChosen,
  isOff = false,
  onChoose,
  end,
  children,
}: {
  isChosen: boolean
  /** It leads nowhere. */
  isOff?: boolean
  onChoose: () => void
  end?: ReactNode
  children: ReactNode
}) => (
  <button
    type="button"
    aria-pressed={isChosen}
    disabled={isOff}
    onClick={onChoose}
    className={`flex min-h-9 w-full items-center gap-2.5 border-b border-n3 px-4 py-1.5 text-left outline-offset-[-2px] ${isChosen ? 'bg-accent-quiet text-n11' : 'hover:bg-n2'}`}
  >
    <span className="min-w-0 flex-1 truncate">{children}</span>
    <span className="shrink-0 text-n9">{end}</span>
  </button>
)

/** What is left out where there is little room: below this width of the page. */
export const WhereWide = ({
  from = 'drawer',
  children,
}: {
  from?: 'drawer' | 'wide'
  children: ReactNode
}) => (
  <span
    className={`contents [&>*]:shrink-0 [&>*]:whitespace-nowrap ${from === 'wide' ? 'max-wide:hidden' : 'max-drawer:hidden'}`}
  >
    {children}
  </span>
)

/** What is said where a page is narrower than this. */
export const WhereBelow = ({
  width,
  children,
}: {
  width: keyof typeof shownBelow
  children: ReactNode
}) => <span className={shownBelow[width]}>{children}</span>

const shownBelow = {
  phone: 'hidden max-phone:inline',
  drawer: 'hidden max-drawer:inline',
  split: 'hidden max-split:inline',
  wide: 'hidden max-wide:inline',
}

export const Badge = ({ children }: { children: ReactNode }) => (
  <span className="shrink-0 rounded-[5px] border bg-n2 px-1.5 text-small leading-5 whitespace-nowrap text-n10">
    {children}
  </span>
)

/** What went wrong, in place of what is said otherwise. */
export const Problem = ({ text, children }: { text: string | undefined; children?: ReactNode }) =>
  text === undefined ? (
    children
  ) : (
    <span role="alert" className="text-failed">
      {text}
    </span>
  )

/** A part of a pane that scrolls by itself. */
export const PanePart = ({ children }: { children: ReactNode }) => (
  <div className="relative min-h-0 flex-1 overflow-auto bg-n1 px-6 py-5 max-phone:px-4">
    {children}
  </div>
)

export const PaneFoot = ({ children, end }: { children?: ReactNode; end: ReactNode }) => (
  <div className="flex min-h-9 shrink-0 items-center gap-2 border-t bg-n1 px-4 py-1 text-small text-n9">
    <span className="min-w-0 flex-1">{children}</span>
    {end}
  </div>
)
