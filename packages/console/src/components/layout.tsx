/** Boxes: features and routes put pieces together with these, and name no class. */
import type { ReactNode } from 'react'

const gaps = { none: 'gap-0', small: 'gap-1', normal: 'gap-2', wide: 'gap-4', page: 'gap-6' }
type Gap = keyof typeof gaps

export const Row = ({
  gap = 'normal',
  isWrapped = false,
  isSpread = false,
  children,
}: {
  gap?: Gap
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

export const Stack = ({ gap = 'wide', children }: { gap?: Gap; children: ReactNode }) => (
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
    className={`min-h-0 flex-1 overflow-auto ${isPadded ? 'px-6 pt-5 pb-8 max-phone:px-4' : ''}`}
    tabIndex={-1}
  >
    {children}
  </div>
)

export const Panel = ({
  title,
  beside,
  children,
}: {
  title?: string
  beside?: ReactNode
  children: ReactNode
}) => (
  <section className="min-w-0 rounded-panel border bg-n1">
    {title !== undefined && (
      <header className="flex h-10 items-center gap-2 border-b px-3.5">
        <h2 className="font-semibold text-n11">{title}</h2>
        <span className="ml-auto text-small text-n9">{beside}</span>
      </header>
    )}
    {children}
  </section>
)

/** Takes what is left of a row, and cuts what does not fit. */
export const Cut = ({ children, title }: { children: ReactNode; title?: string }) => (
  <span className="min-w-0 flex-1 truncate" title={title} dir="auto">
    {children}
  </span>
)

export const Quiet = ({
  children,
  isSmall = false,
}: {
  children: ReactNode
  isSmall?: boolean
}) => <span className={`text-n9 ${isSmall ? 'text-small' : ''}`}>{children}</span>

export const Strong = ({ children }: { children: ReactNode }) => (
  <b className="font-medium text-n11">{children}</b>
)

export const Mono = ({ children }: { children: ReactNode }) => (
  <span className="font-mono text-small">{children}</span>
)

export const Heading = ({ children }: { children: ReactNode }) => (
  <h2 className="font-semibold text-n11">{children}</h2>
)

/** One column of a page with few words: a form, a message. */
export const Column = ({ children }: { children: ReactNode }) => (
  <div className="mx-auto grid w-full max-w-[360px] content-start gap-4 px-4 pt-[18vh] pb-12">
    {children}
  </div>
)

/** For screen readers alone. */
export const Hidden = ({
  children,
  isAlert = false,
}: {
  children: ReactNode
  isAlert?: boolean
}) => (
  <span className="sr-only" role={isAlert ? 'alert' : undefined}>
    {children}
  </span>
)
