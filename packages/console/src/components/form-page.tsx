/** A page that changes a thing: the form, beside it what will be sent, and the bar that sends it. */
import type { ReactNode } from 'react'
import { useId, useState } from 'react'
import { words } from '../lib/words.ts'
import type { TabChoice } from './tabs.tsx'
import { Tabs } from './tabs.tsx'

type BesideTabs<Name extends string> = {
  label: string
  tabs: readonly TabChoice<Name>[]
  chosen: Name
  onChoose: (name: Name) => void
}

type FormPanesProps<Name extends string> = {
  form: ReactNode
  /** Ends with a `FormBar`, which is in view whatever is shown. */
  beside: ReactNode
  /** What the second pane may show; without them it shows what will be sent. */
  tabs?: BesideTabs<Name>
  /** What the service said: the form, where it stands under its field, comes to the front. */
  refusal: Error | null
}

/** Form and what stands beside it. Below 1,000 px each has a tab. */
export function FormPanes<Name extends string = never>({
  form,
  beside,
  tabs,
  refusal,
}: FormPanesProps<Name>) {
  const [isForm, setForm] = useState(true)
  const [seen, setSeen] = useState(refusal)
  if (seen !== refusal) {
    setSeen(refusal)
    if (refusal) setForm(true)
  }
  const others: readonly TabChoice<string>[] = tabs?.tabs ?? [
    { name: 'request', label: words.request.title },
  ]
  const choose = (name: string) => {
    setForm(name === 'form')
    const other = tabs?.tabs.find((each) => each.name === name)
    if (other) tabs?.onChoose(other.name)
  }
  return (
    <>
      <div className="split:hidden">
        <Tabs
          label={words.form.parts}
          tabs={[{ name: 'form', label: words.form.form }, ...others]}
          chosen={isForm ? 'form' : (tabs?.chosen ?? 'request')}
          onChoose={choose}
        />
      </div>
      <div className="grid min-h-0 flex-1 grid-cols-[minmax(0,1fr)_minmax(0,.85fr)] max-split:flex max-split:flex-col">
        <div
          className={`relative min-h-0 overflow-auto border-r px-6 py-5 max-split:flex-1 max-split:border-r-0 max-phone:px-4 ${isForm ? '' : 'max-split:hidden'}`}
        >
          {form}
        </div>
        <div
          className={`flex min-h-0 min-w-0 flex-col bg-n2 ${isForm ? 'max-split:[&>:not([data-form-bar])]:hidden' : 'max-split:flex-1'}`}
        >
          {tabs && (
            <div className="max-split:hidden">
              <Tabs {...tabs} />
            </div>
          )}
          {beside}
        </div>
      </div>
    </>
  )
}

/** What differs, and what to do with it. It stays in view. */
export const FormBar = ({ children, actions }: { children?: ReactNode; actions: ReactNode }) => (
  <div
    data-form-bar
    className="sticky bottom-0 flex min-h-12 shrink-0 flex-wrap items-center gap-2.5 border-t bg-n1 px-4 py-2"
  >
    <span className="min-w-0 flex-1 text-n9">{children}</span>
    {actions}
  </div>
)

/** Fields in one column, as wide as text is read. */
export const Fields = ({ children }: { children: ReactNode }) => (
  <div className="grid max-w-[640px] content-start gap-[18px]">{children}</div>
)

/** Fields in a row where there is room. */
export const FieldRow = ({ children }: { children: ReactNode }) => (
  <div className="grid grid-cols-2 gap-3 max-phone:grid-cols-1">{children}</div>
)

/** Fields that belong together, under one name. */
export const FieldGroup = ({
  label,
  hint,
  problem,
  action,
  children,
}: {
  label: string
  hint?: ReactNode
  problem?: string | undefined
  action?: ReactNode
  children: ReactNode
}) => {
  const id = useId()
  return (
    <div role="group" aria-labelledby={id} className="grid min-w-0 content-start gap-[5px]">
      <div className="flex min-h-6 items-center gap-2">
        <span id={id} className="flex-1 font-medium text-n11">
          {label}
        </span>
        {action}
      </div>
      {children}
      {(problem ?? hint) !== undefined && (
        <span
          role={problem === undefined ? undefined : 'alert'}
          className={`text-small ${problem === undefined ? 'text-n8' : 'text-failed'}`}
        >
          {problem ?? hint}
        </span>
      )}
    </div>
  )
}

/** A box of lines: things that were chosen, each with what can be done to it. */
export const ListBox = ({ children }: { children: ReactNode }) => (
  <ul className="min-w-0 divide-y divide-n3 rounded-panel border">{children}</ul>
)

export const ListLine = ({
  name,
  about,
  children,
}: {
  name: ReactNode
  about?: ReactNode
  children?: ReactNode
}) => (
  <li className="flex min-h-[38px] flex-wrap items-center gap-x-2.5 gap-y-1 px-3 py-1">
    <span className="min-w-0 truncate text-n11">{name}</span>
    {about !== undefined && <span className="min-w-0 truncate text-n9">{about}</span>}
    <span className="ml-auto flex min-w-0 flex-wrap items-center justify-end gap-1.5">
      {children}
    </span>
  </li>
)

/** What is to be said of a line, below it. */
export const LineNote = ({ children }: { children: ReactNode }) => (
  <span className="order-last basis-full text-small text-n9">{children}</span>
)
