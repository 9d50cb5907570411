/** The card of an agent that asks: who asks for what, and below it the question and the ways to answer. */
import type { KeyboardEvent, ReactNode } from 'react'
import { StatusSign } from './status.tsx'

type AskingCardProps = {
  /** The event that asks. */
  id: string
  name: string
  says: string
  onFocus?: () => void
  onKeyDown?: (event: KeyboardEvent<HTMLElement>) => void
  children: ReactNode
}

export const AskingCard = ({ id, name, says, onFocus, onKeyDown, children }: AskingCardProps) => (
  <div
    role="group"
    data-event={id}
    tabIndex={0}
    aria-label={`${name} ${says}`}
    onFocus={onFocus}
    onKeyDown={onKeyDown}
    className="@container grid min-w-0 gap-2 rounded-panel border border-waiting bg-waiting-quiet px-3.5 py-3"
  >
    <header className="flex items-center gap-2">
      <StatusSign tone="asks" />
      <b className="min-w-0 truncate font-semibold text-n11">{name}</b>
      <span className="text-n9">{says}</span>
    </header>
    {children}
  </div>
)
