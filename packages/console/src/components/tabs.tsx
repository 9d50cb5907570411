/** Views of one thing. Arrow keys go through them. */
import type { KeyboardEvent, ReactNode } from 'react'

export type TabChoice<Name extends string> = {
  name: Name
  label: string
  beside?: ReactNode
  /** It is there only where the page has no room to show it beside the others. */
  isNarrow?: boolean
}

export function Tabs<Name extends string>({
  label,
  tabs,
  chosen,
  onChoose,
}: {
  label: string
  tabs: readonly TabChoice<Name>[]
  chosen: Name
  onChoose: (name: Name) => void
}) {
  const press = (event: KeyboardEvent<HTMLElement>) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (step === undefined) return
    const at = tabs.findIndex(({ name }) => name === chosen)
    const next = tabs[(at + step + tabs.length) % tabs.length]
    if (!next) return
    event.preventDefault()
    onChoose(next.name)
    const place = event.currentTarget.querySelector<HTMLElement>(`[data-tab="${next.name}"]`)
    place?.focus()
  }
  return (
    <div
      role="tablist"
      aria-label={label}
      tabIndex={-1}
      onKeyDown={press}
      className="flex h-9 shrink-0 items-stretch gap-[18px] border-b px-4"
    >
      {tabs.map(({ name, label: shown, beside, isNarrow }) => (
        <button
          key={name}
          type="button"
          role="tab"
          data-tab={name}
          aria-selected={name === chosen}
          tabIndex={name === chosen ? 0 : -1}
          onClick={() => onChoose(name)}
          className={`flex items-center gap-1.5 border-b-2 border-transparent whitespace-nowrap text-n9 outline-offset-[-2px] hover:text-n11 aria-selected:border-n11 aria-selected:font-medium aria-selected:text-n11 ${isNarrow ? 'split:hidden' : ''}`}
        >
          {shown}
          {beside !== undefined && <span className="font-normal text-n8">{beside}</span>}
        </button>
      ))}
    </div>
  )
}
