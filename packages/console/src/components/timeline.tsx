/**
 * Where the time of a turn went: bars for models and tools, a lane for each sub-agent, markers for what only waited.
 * Dragging over the bars shows that span alone, as `z` does with the step that has the focus.
 */
import type { KeyboardEvent, PointerEvent } from 'react'
import { useRef, useState } from 'react'
import { formatDuration, formatSpan } from '../lib/format/times.ts'
import type { TimelinePosition, TimelineScale, TimelineZoom } from '../lib/timeline-scale.ts'
import {
  beginOf,
  isShown,
  lengthOf,
  scaleOf,
  shareAt,
  wholeTurn,
  widthOf,
} from '../lib/timeline-scale.ts'
import { talkWords } from '../lib/session/talk-words.ts'
import { words } from '../lib/words.ts'
import { Button } from './button.tsx'

type TimelinePart = {
  kind: 'model' | 'tool' | 'failed' | 'agent' | 'running'
  from: TimelinePosition
  to: TimelinePosition
}
/** Who keeps it waiting: people are amber, machines neutral, money red. */
type TimelineWait = { owner: 'person' | 'machine' | 'money'; ms: number }

export type TimelineRow = {
  id: string
  /** The event that a click chooses, where it is not the row's own. */
  chooses?: string | undefined
  name: string
  /** How deep in sub-agents. */
  depth?: number
  part: TimelinePart
  /** Nobody worked before it: a marker of fixed width says how long. */
  wait?: TimelineWait | undefined
  /** It waits for a person now. */
  isAsking?: boolean
  tookMs: number | undefined
}

const bars: Record<TimelinePart['kind'], string> = {
  model: 'bg-bar-model',
  tool: 'bg-bar-tool',
  failed: 'bg-failed',
  agent: 'bg-bar-model opacity-45',
  running: 'bg-running',
}
const waits: Record<TimelineWait['owner'], string> = {
  person: 'bg-waiting-quiet text-waiting',
  machine: 'bg-n4 text-n10',
  money: 'bg-failed-quiet text-failed',
}

/** Room for what a person is asked. */
const asksPx = 62
/** A marker that is narrower has no text. */
const textPx = 30
/** A drag over less is a click. */
const leastDragPx = 6

type TimelineTurnProps = {
  title: string
  /** Work, wait and wall, in milliseconds. */
  times: { work: number; wait: number; wall: number }
  /** Where markers stand, in shares of the work. */
  idle: readonly number[]
  rows: readonly TimelineRow[]
  chosen: string | undefined
  onChoose: (id: string) => void
}

export function TimelineTurn({ title, times, idle, rows, chosen, onChoose }: TimelineTurnProps) {
  const [zoom, setZoom] = useState<TimelineZoom>()
  const asks = rows.some(({ isAsking }) => isAsking)
  const scale = scaleOf(idle, zoom ?? wholeTurn, asks ? asksPx : 0)
  const { drag, ...hold } = useDrag(scale, idle, setZoom)
  const press = (event: KeyboardEvent<HTMLElement>) => {
    const keys = { scale, rows, zoom, setZoom }
    if (pressed(event, keys)) event.preventDefault()
  }
  const shown = rows.filter(({ part }) => isShown(scale, part.from, part.to))
  return (
    <div role="group" aria-label={title} onKeyDown={press}>
      <h2 className="sticky top-0 z-[2] flex min-h-[30px] flex-wrap items-center gap-x-2 border-b border-n3 bg-n1 px-3 font-medium text-n11">
        {title}
        {zoom ? (
          <span className="ml-auto flex items-center gap-2 text-small font-normal text-n9">
            {talkWords.zoomed(
              formatDuration((zoom.to - zoom.from) * times.work),
              formatDuration(times.work),
            )}
            <Button size="small" kind="plain" keys="Esc" onClick={() => setZoom(undefined)}>
              {talkWords.wholeTurn}
            </Button>
          </span>
        ) : (
          <Times {...times} />
        )}
      </h2>
      <div
        {...hold}
        data-drag={drag !== undefined}
        title={zoom ? undefined : talkWords.zoomHint}
        onDoubleClick={() => setZoom(undefined)}
        className="relative touch-pan-y py-0.5 select-none"
      >
        {shown.map((row) => (
          <TimelineStep
            key={row.id}
            {...row}
            scale={scale}
            isChosen={row.id === chosen}
            onChoose={() => onChoose(row.chooses ?? row.id)}
          />
        ))}
        {drag && (
          <span
            className="pointer-events-none absolute inset-y-0 border-x border-accent bg-accent-quiet"
            style={{ left: Math.min(drag.from, drag.to), width: Math.abs(drag.to - drag.from) }}
          />
        )}
      </div>
    </div>
  )
}

/** Work, wait and wall; where nothing was waited for, the three are one. */
const Times = ({ work, wait, wall }: TimelineTurnProps['times']) => (
  <span className="ml-auto flex gap-2 text-small font-normal text-n9">
    {(wait === 0
      ? ([['work', work]] as const)
      : ([
          ['work', work],
          ['wait', wait],
          ['wall', wall],
        ] as const)
    )
      .filter(([, ms]) => ms > 0)
      .map(([name, ms]) => (
        <span key={name} title={formatDuration(ms)} className="whitespace-nowrap">
          {talkWords.times[name]} <span className="text-n11">{formatSpan(ms)}</span>
        </span>
      ))}
  </span>
)

type TurnKeys = {
  scale: TimelineScale
  rows: readonly TimelineRow[]
  zoom: TimelineZoom | undefined
  setZoom: (zoom: TimelineZoom | undefined) => void
}

/** `z` shows the span of the step that has the focus, `esc` the whole turn again; arrows go through the steps. */
function pressed(event: KeyboardEvent<HTMLElement>, { scale, rows, zoom, setZoom }: TurnKeys) {
  if (event.metaKey || event.ctrlKey || event.altKey) return false
  const step = event.target instanceof Element && event.target.closest<HTMLElement>('[data-step]')
  if (event.key === 'Escape' && zoom) {
    setZoom(undefined)
    // The page's own `esc` closes its details.
    event.stopPropagation()
    return true
  }
  if (!step) return false
  if (event.key === 'z') {
    const row = rows.find(({ id }) => id === step.dataset['step'])
    if (row) setZoom(widened({ from: row.part.from.share, to: row.part.to.share }, scale.zoom))
    return row !== undefined
  }
  const way = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (way === undefined) return false
  const all = [...(step.closest('nav')?.querySelectorAll<HTMLElement>('[data-step]') ?? [])]
  const next = all[all.indexOf(step) + way]
  next?.focus()
  next?.click()
  return next !== undefined
}

const leastZoom = 0.002

/** A span with a little around it, and never so short that nothing can be seen. */
function widened({ from, to }: TimelineZoom, within: TimelineZoom): TimelineZoom {
  const around = Math.max(leastZoom, (to - from) * 0.05)
  return { from: Math.max(0, from - around), to: Math.min(1, Math.max(to, within.from) + around) }
}

/** A drag over the bars, in pixels of the turn. */
function useDrag(
  scale: TimelineScale,
  idle: readonly number[],
  setZoom: (zoom: TimelineZoom) => void,
) {
  const [drag, setDrag] = useState<{ from: number; to: number }>()
  const begun = useRef<number>(undefined)
  const distance = (event: PointerEvent<HTMLElement>) =>
    event.clientX - event.currentTarget.getBoundingClientRect().left
  const barsOf = (place: HTMLElement) => {
    const bar = place.querySelector('[data-bars]')?.getBoundingClientRect()
    return bar && { left: bar.left - place.getBoundingClientRect().left, width: bar.width }
  }
  return {
    drag,
    onPointerDown(event: PointerEvent<HTMLElement>) {
      const place = barsOf(event.currentTarget)
      const from = distance(event)
      // A finger scrolls here.
      const isOver = place && from >= place.left && from <= place.left + place.width
      begun.current =
        isOver && event.pointerType !== 'touch' && event.button === 0 ? from : undefined
    },
    onPointerMove(event: PointerEvent<HTMLElement>) {
      const from = begun.current
      if (from === undefined) return
      const to = distance(event)
      if (!drag && Math.abs(to - from) < leastDragPx) return
      event.currentTarget.setPointerCapture(event.pointerId)
      setDrag({ from, to })
    },
    onPointerUp(event: PointerEvent<HTMLElement>) {
      begun.current = undefined
      const place = barsOf(event.currentTarget)
      setDrag(undefined)
      if (!drag || !place) return
      const at = (px: number) => shareAt(scale, idle, px - place.left, place.width)
      const [from, to] = [Math.min(drag.from, drag.to), Math.max(drag.from, drag.to)].map(at)
      if (from !== undefined && to !== undefined && to - from > leastZoom) setZoom({ from, to })
    },
    onPointerCancel() {
      begun.current = undefined
      setDrag(undefined)
    },
  }
}

/** Beyond ten minutes, seconds tell nothing. */
const longMs = 600_000

type TimelineStepProps = TimelineRow & {
  scale: TimelineScale
  isChosen: boolean
  onChoose: () => void
}

const TimelineStep = (props: TimelineStepProps) => {
  const { id, name, depth = 0, part, wait, isAsking, tookMs, scale, isChosen, onChoose } = props
  const { from, to, kind } = part
  const marker = { share: from.share, markers: Math.max(0, from.markers - 1) }
  return (
    <button
      type="button"
      data-step={id}
      aria-pressed={isChosen}
      onClick={onChoose}
      className={`grid h-6 w-full grid-cols-[92px_minmax(0,1fr)_56px] items-center gap-2 px-3 text-left text-small outline-offset-[-2px] ${isChosen ? 'bg-accent-quiet' : 'hover:bg-n2'}`}
    >
      <span
        className={`truncate ${kind === 'failed' ? 'text-failed' : depth > 0 ? 'text-n9' : 'text-n10'}`}
        style={{ paddingLeft: depth * 12 }}
      >
        {name}
      </span>
      <span data-bars className="relative flex h-[18px] items-center overflow-hidden">
        {wait && (
          <span
            title={talkWords.waited(formatDuration(wait.ms))}
            className={`absolute inset-y-0 grid place-items-center rounded-sm text-tiny whitespace-nowrap ${waits[wait.owner]}`}
            style={{ left: lengthOf(scale, marker), width: scale.markerPx - 2 }}
          >
            {scale.markerPx >= textPx && formatSpan(wait.ms)}
          </span>
        )}
        {!isAsking && (
          <span
            className={`absolute h-2 min-w-0.5 rounded-[2px] ${bars[kind]}`}
            style={{ left: beginOf(scale, from), width: widthOf(scale, from, to) }}
          />
        )}
        {isAsking && (
          <span
            className={`absolute inset-y-0 right-0 grid place-items-center rounded-full ${waits.person}`}
            style={{ width: asksPx - 4 }}
          >
            {words.status.asks}
          </span>
        )}
      </span>
      <span className="text-right whitespace-nowrap text-n9">
        {tookMs === undefined ? '' : (tookMs < longMs ? formatDuration : formatSpan)(tookMs)}
      </span>
    </button>
  )
}

export type MapPart = { id: string; kind: TimelinePart['kind']; from: number; to: number }

/** All turns in one line, where there is no room for rows: the newest at the right. */
export const TimelineMap = ({
  label,
  turns,
  chosen,
  onChoose,
}: {
  label: string
  /** `size`: the share of the line. */
  turns: readonly { id: string; title: string; size: number; parts: readonly MapPart[] }[]
  chosen: string | undefined
  onChoose: (id: string) => void
}) => (
  <nav
    aria-label={label}
    className="hidden h-9 shrink-0 items-center gap-1.5 border-b px-4 max-split:flex max-phone:hidden"
  >
    {turns.map(({ id, title, size, parts }) => (
      <button
        key={id}
        type="button"
        title={title}
        aria-label={title}
        aria-pressed={parts.some((part) => part.id === chosen)}
        onClick={({ clientX, currentTarget }) => {
          const { left, width } = currentTarget.getBoundingClientRect()
          const at = (clientX - left) / Math.max(1, width)
          const near = parts.find((part) => part.to >= at) ?? parts.at(-1)
          onChoose(near?.id ?? id)
        }}
        className="relative h-5 min-w-3 overflow-hidden rounded-sm bg-n3 aria-pressed:outline-2 aria-pressed:outline-accent"
        style={{ flexGrow: size, flexBasis: 0 }}
      >
        {parts.map((part) => (
          <span
            key={part.id}
            className={`absolute top-1.5 h-2 min-w-px ${bars[part.kind]}`}
            style={{
              left: `${(part.from * 100).toFixed(2)}%`,
              width: `${((part.to - part.from) * 100).toFixed(2)}%`,
            }}
          />
        ))}
      </button>
    ))}
  </nav>
)
