/** The list of a first day: steps that are done or not, and beside them things to begin with. */
import type { ReactNode } from 'react'
import { IconCheck } from './icons.tsx'

export const FirstDay = ({
  title,
  hide,
  steps,
  children,
}: {
  title: string
  hide: ReactNode
  steps: readonly { name: string; text: ReactNode; isDone: boolean; doneWord: string }[]
  children: ReactNode
}) => (
  <section
    aria-label={title}
    className="grid gap-x-10 gap-y-6 border-b px-8 py-6 max-phone:px-4 wide:grid-cols-[minmax(0,1fr)_minmax(0,1.7fr)]"
  >
    <div className="grid content-start gap-4">
      <div className="flex items-center justify-between gap-2">
        <h2 className="text-head font-semibold text-n11">{title}</h2>
        {hide}
      </div>
      <ol className="grid gap-4">
        {steps.map(({ name, text, isDone, doneWord }, at) => (
          <li key={name} className="grid grid-cols-[24px_minmax(0,1fr)] gap-2.5">
            <span
              aria-hidden="true"
              className={`grid size-[22px] place-items-center rounded-full text-small font-semibold ${isDone ? 'bg-good text-n1' : 'border border-n7 text-n9'}`}
            >
              {isDone ? <IconCheck /> : at + 1}
            </span>
            <span className="grid">
              <span className={isDone ? 'text-n11' : 'font-medium text-n11'}>
                {name}
                {isDone && <span className="sr-only"> ({doneWord})</span>}
              </span>
              <span className="text-n9 [&_a]:text-accent [&_a]:underline [&_a]:underline-offset-2">
                {text}
              </span>
            </span>
          </li>
        ))}
      </ol>
    </div>
    {children}
  </section>
)

export const StartCards = ({
  title,
  hint,
  children,
}: {
  title: string
  hint: string
  children: ReactNode
}) => (
  <div className="grid content-start gap-3">
    <div className="flex flex-wrap items-baseline justify-between gap-x-3">
      <h2 className="font-semibold text-n11">{title}</h2>
      <span className="text-small text-n9">{hint}</span>
    </div>
    <div className="grid gap-3">{children}</div>
  </div>
)

export const StartCard = ({
  title,
  text,
  works,
  action,
}: {
  title: string
  text: string
  works: string
  action: ReactNode
}) => (
  <article className="overflow-hidden rounded-panel border">
    <div className="flex flex-wrap items-start gap-3 px-3.5 py-3">
      <div className="min-w-[200px] flex-1">
        <h3 className="font-semibold text-n11">{title}</h3>
        <p className="text-n9">{text}</p>
      </div>
      {action}
    </div>
    <p className="border-t bg-n2 px-3.5 py-1.5 text-small text-n9">{works}</p>
  </article>
)
