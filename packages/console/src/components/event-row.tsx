/** Events as they stand in the log, one a line. */
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef } from 'react'
import { formatCount } from '../lib/format/numbers.ts'
import { Time } from './figures.tsx'

export type EventRowProps = {
  id: string
  at: string
  seq: number | undefined
  type: string
  text: string
  isFailure?: boolean
  isChosen?: boolean
  onChoose?: () => void
}

export const EventRow = (props: EventRowProps) => {
  const { id, at, seq, type, text, isFailure, isChosen, onChoose } = props
  return (
    <button
      type="button"
      data-event={id}
      aria-pressed={isChosen}
      onClick={onChoose}
      className={`grid h-7 w-full grid-cols-[62px_52px_200px_minmax(0,1fr)] items-center gap-3 border-b border-n3 px-4 text-left text-small whitespace-nowrap outline-offset-[-2px] max-phone:grid-cols-[52px_minmax(0,auto)_minmax(0,1fr)] ${isChosen ? 'bg-accent-quiet' : 'hover:bg-n2'}`}
    >
      <span className="text-n9">
        <Time at={at} form="clock" />
      </span>
      <span className="text-right text-n9 max-phone:hidden">
        {seq === undefined ? '–' : formatCount(seq)}
      </span>
      <span className={`truncate font-mono ${isFailure ? 'text-failed' : 'text-n10'}`}>{type}</span>
      <span className="truncate text-n11" dir="auto">
        {text}
      </span>
    </button>
  )
}

const rowHeight = 28

/** Rows that are on the screen are in the page; the others are counted. */
export function EventRows({ rows, label }: { rows: readonly EventRowProps[]; label: string }) {
  const place = useRef<HTMLDivElement>(null)
  const chosen = rows.findIndex(({ isChosen }) => isChosen)
  // Its functions are others at each render; nothing here keeps them.
  // oxlint-disable-next-line react/incompatible-library
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => place.current,
    estimateSize: () => rowHeight,
    overscan: 20,
    getItemKey: (at) => rows[at]?.id ?? at,
  })
  useEffect(() => {
    if (chosen >= 0) virtual.scrollToIndex(chosen, { align: 'auto' })
  }, [chosen, virtual])
  return (
    <div
      ref={place}
      className="relative min-h-0 flex-1 overflow-auto"
      role="region"
      aria-label={label}
      tabIndex={-1}
    >
      <div style={{ height: virtual.getTotalSize() }} className="relative">
        {virtual.getVirtualItems().map(({ index, key, start }) => {
          const row = rows[index]
          return row ? (
            <div
              key={key}
              className="absolute inset-x-0 top-0"
              style={{ transform: `translateY(${start}px)` }}
            >
              <EventRow {...row} />
            </div>
          ) : null
        })}
      </div>
    </div>
  )
}
