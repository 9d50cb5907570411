/** The page of components: one section a component, one figure a state. */
import type { ReactNode } from 'react'

export const Spec = ({ name, children }: { name: string; children: ReactNode }) => (
  <section className="grid grid-cols-[118px_minmax(0,1fr)] gap-5 border-b py-5 last:border-b-0 max-split:grid-cols-[minmax(0,1fr)] max-split:gap-2">
    <h2 className="font-semibold text-n11">{name}</h2>
    <div className="grid grid-cols-12 items-start gap-x-5 gap-y-[18px]">{children}</div>
  </section>
)

const spans = {
  quarter: 'col-span-3 max-wide:col-span-6 max-phone:col-span-12',
  third: 'col-span-4 max-wide:col-span-6 max-phone:col-span-12',
  half: 'col-span-6 max-split:col-span-12',
  twoThirds: 'col-span-8 max-wide:col-span-12',
  whole: 'col-span-12',
}

export const Specimen = ({
  caption,
  size = 'quarter',
  children,
}: {
  caption: string
  size?: keyof typeof spans
  children: ReactNode
}) => (
  <figure className={`grid min-w-0 content-start gap-[7px] ${spans[size]}`}>
    <figcaption className="text-small text-n8">{caption}</figcaption>
    {children}
  </figure>
)

/** A surface that floats, shown where it stands. */
export const Stage = ({ children }: { children: ReactNode }) => (
  <div className="grid place-items-center rounded-panel bg-scrim p-6 [&>*]:w-full [&>*]:max-w-[480px]">
    {children}
  </div>
)

export const Float = ({ children }: { children: ReactNode }) => (
  <div className="min-w-0 rounded-panel border bg-float text-n10 shadow-float">{children}</div>
)

export const Framed = ({ children }: { children: ReactNode }) => (
  <div className="min-w-0 overflow-hidden rounded-panel border">{children}</div>
)
