/** Panels of a page that is looked at as a whole: figures in a row, and lists of a few lines. */
import type { ReactNode } from 'react'

/** The page's own grid: two columns where there is room. */
export const Panels = ({ children }: { children: ReactNode }) => (
  <div className="grid content-start gap-5 px-8 py-6 max-phone:px-4 wide:grid-cols-[minmax(0,1.55fr)_minmax(0,1fr)]">
    {children}
  </div>
)

export const FigureRow = ({ children }: { children: ReactNode }) => (
  <dl className="grid grid-cols-4 divide-x divide-n5 rounded-panel border max-split:grid-cols-2 max-split:divide-x-0 wide:col-span-2">
    {children}
  </dl>
)

export const Figure = ({
  name,
  meaning,
  more,
  children,
}: {
  name: string
  /** Coloured only where something is to be done. */
  meaning?: 'asks' | 'failed' | undefined
  more?: ReactNode
  children: ReactNode
}) => (
  <div className="grid content-start gap-0.5 px-[18px] py-3.5">
    <dt className="text-n9">{name}</dt>
    <dd
      className={`text-figure leading-9 font-semibold tracking-[-0.02em] ${meaning === 'asks' ? 'text-waiting' : meaning === 'failed' ? 'text-failed' : 'text-n11'}`}
    >
      {children}
    </dd>
    {more !== undefined && <dd className="text-small text-n9">{more}</dd>}
  </div>
)

export const Panel = ({
  title,
  beside,
  children,
}: {
  title: string
  beside?: ReactNode
  children: ReactNode
}) => (
  <section className="min-w-0 self-start overflow-hidden rounded-panel border [&_tr:last-child>td]:border-b-0">
    <header className="flex min-h-10 flex-wrap items-center justify-between gap-x-2 border-b px-3.5 py-1.5">
      <h2 className="max-w-full shrink-0 truncate font-semibold text-n11">{title}</h2>
      <span className="min-w-0 text-small text-n9">{beside}</span>
    </header>
    {children}
  </section>
)

/** One thing of a panel: its sign, its name, and what is to be known of it. */
export const PanelLine = ({
  sign,
  name,
  about,
  end,
}: {
  sign: ReactNode
  name: ReactNode
  about?: ReactNode
  end?: ReactNode
}) => (
  <div className="flex min-h-9 items-center gap-2.5 border-b border-n3 px-3.5 py-1.5 last:border-b-0">
    {sign}
    <span
      className={`truncate font-medium text-n11 max-phone:min-w-0 max-phone:max-w-none max-phone:flex-1 ${about === undefined ? 'min-w-0 flex-1' : 'max-w-[65%] shrink-0'}`}
    >
      {name}
    </span>
    {about !== undefined && (
      <span className="min-w-0 flex-1 truncate text-right text-n9 max-phone:hidden">{about}</span>
    )}
    <span className="shrink-0 text-right text-n9 tabular-nums">{end}</span>
  </div>
)

export const PanelEmpty = ({ children }: { children: ReactNode }) => (
  <p className="px-3.5 py-3 text-n9">{children}</p>
)

/** Two parts of a panel side by side where there is room: a form, and what it will send. */
export const PanelPanes = ({ form, beside }: { form: ReactNode; beside: ReactNode }) => (
  <div className="grid grid-cols-2 max-wide:grid-cols-[minmax(0,1fr)]">
    <div className="min-w-0 px-3.5 py-3">{form}</div>
    <div className="flex max-h-[420px] min-h-0 min-w-0 flex-col border-l max-wide:border-t max-wide:border-l-0">
      {beside}
    </div>
  </div>
)

export const PanelFoot = ({ children, actions }: { children?: ReactNode; actions: ReactNode }) => (
  <div className="flex min-h-11 flex-wrap items-center justify-end gap-2 border-t px-3.5 py-1.5">
    <span className="mr-auto min-w-0">{children}</span>
    {actions}
  </div>
)

/** Names and their values, one under the other. */
export const Facts = ({ facts }: { facts: readonly (readonly [string, ReactNode])[] }) => (
  <dl className="grid grid-cols-[110px_minmax(0,1fr)] gap-x-3 gap-y-2">
    {facts.map(([name, value]) => (
      <div key={name} className="contents">
        <dt className="text-n9">{name}</dt>
        <dd className="min-w-0 text-n11">{value}</dd>
      </div>
    ))}
  </dl>
)

export const PanelBody = ({ children }: { children: ReactNode }) => (
  <div className="px-3.5 py-3">{children}</div>
)
