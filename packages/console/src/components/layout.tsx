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
