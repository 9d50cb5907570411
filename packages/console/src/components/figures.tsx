/** Ids, times, costs and counts: one form each, the whole value in the title. */
import { useState } from 'react'
import type { ReactNode } from 'react'
import { copyText } from '../lib/clipboard.ts'
import { shortId } from '../lib/format/ids.ts'
import { formatCost, formatCount, formatTokens } from '../lib/format/numbers.ts'
import { formatAge, formatClock, formatDuration, formatWhole } from '../lib/format/times.ts'
import { minuteHand } from '../lib/now.ts'
import { useStore } from '../lib/store.ts'
import { isUtc } from '../lib/time-zone.ts'
import { words } from '../lib/words.ts'

/** Shortened in the middle; a click copies the whole. */
export function Id({ of }: { of: string }) {
  const [isCopied, setCopied] = useState(false)
  const copy = () =>
    void copyText(of).then(() => {
      setCopied(true)
      setTimeout(() => setCopied(false), 1_500)
    })
  return (
    <button
      type="button"
      title={`${of} · ${words.copyId}`}
      onClick={copy}
      className="relative rounded-sm font-mono text-small whitespace-nowrap text-n9 hover:text-n11"
    >
      {isCopied ? words.copied : shortId(of)}
      <span className="sr-only">{words.copyId}</span>
    </button>
  )
}

/** `age`: how long ago; `clock`: the time of day. Both have the whole time and UTC in the title. */
export function Time({ at, form = 'age' }: { at: string; form?: 'age' | 'clock' }) {
  const now = useStore(minuteHand)
  const inUtc = useStore(isUtc)
  const date = new Date(at)
  return (
    <time dateTime={at} title={formatWhole(date)} className="whitespace-nowrap">
      {form === 'clock' ? formatClock(date, inUtc) : formatAge(now - date.getTime())}
    </time>
  )
}

/** How long until then: nothing ends where `at` is null. `isExpected`: nobody has to do anything about the end. */
export function TimeLeft({ at, isExpected }: { at: string | null; isExpected?: boolean }) {
  const now = useStore(minuteHand)
  if (at === null) return <span className="text-n9">{words.timeLeft.never}</span>
  const date = new Date(at)
  const left = date.getTime() - now
  return (
    <time
      dateTime={at}
      title={formatWhole(date)}
      className={`whitespace-nowrap ${left < soonMs && !isExpected ? 'text-waiting' : ''}`}
    >
      {left <= 0 ? words.timeLeft.over : formatAge(Math.max(left, leastMs))}
    </time>
  )
}
/** From here on somebody has to do something about the end. */
const soonMs = 7 * 86_400_000
/** What is shorter is shown as this. */
const leastMs = 10_000

export const Duration = ({ ms }: { ms: number }) => (
  <span className="whitespace-nowrap" title={`${formatCount(Math.round(ms))} ms`}>
    {formatDuration(ms)}
  </span>
)

export const Cost = ({ dollars }: { dollars: number | undefined }) =>
  dollars === undefined ? (
    <span className="text-n8" title={words.noPrice}>
      –
    </span>
  ) : (
    <span className="whitespace-nowrap" title={`$${dollars}`}>
      {formatCost(dollars)}
    </span>
  )

export const Tokens = ({ count }: { count: number }) => (
  <span className="whitespace-nowrap" title={`${formatCount(count)} ${words.tokens}`}>
    {formatTokens(count)}
  </span>
)

/** A name and its value in a line of facts. */
export const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <span className="whitespace-nowrap text-n9">
    {name} <b className="font-medium text-n11">{children}</b>
  </span>
)
