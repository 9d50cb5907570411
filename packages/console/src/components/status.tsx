import type { ReactNode } from 'react'
import type { StatusTone } from '../lib/tones.ts'

const colours: Record<StatusTone, string> = {
  running: 'text-running',
  asks: 'text-waiting',
  failed: 'text-failed',
  idle: 'text-n9',
  done: 'text-good',
  queued: 'text-n9',
}

const signs: Record<StatusTone, string> = {
  running:
    'size-[9px] animate-turn rounded-full border-[1.5px] border-current border-r-transparent',
  asks: 'size-[7px] rotate-45 rounded-[2px] bg-current',
  failed: 'size-2 rounded-[1px] bg-current',
  idle: 'size-2 rounded-full border-[1.5px] border-current',
  done: 'size-2 rounded-full bg-current',
  queued: 'size-2 rounded-full border-2 border-dotted border-current',
}

export const StatusSign = ({ tone }: { tone: StatusTone }) => (
  <span aria-hidden="true" className={`shrink-0 ${signs[tone]} ${colours[tone]}`} />
)

/** `title`: more about the word. */
type StatusProps = { tone: StatusTone; title?: string | undefined; children: ReactNode }

/** A sign and a word, so that the colour is never alone. */
export const Status = ({ tone, title, children }: StatusProps) => (
  <span
    title={title}
    className={`inline-flex items-center gap-1.5 whitespace-nowrap ${colours[tone]}`}
  >
    <StatusSign tone={tone} />
    {children}
  </span>
)
