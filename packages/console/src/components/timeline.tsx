/** Where the time of a turn went: bars for models and tools, a lane for each sub-agent, markers for what only waited. */
import type { ReactNode } from 'react'
import { formatDuration } from '../lib/format/times.ts'

/** `from` and `to` in shares of the turn, 0 to 1. */
type TimelinePart = {
  kind: 'model' | 'tool' | 'failed' | 'agent' | 'running'
  from: number
  to: number
}
/** Who keeps it waiting: people are amber, machines neutral, money red. */
type TimelineWait = { owner: 'person' | 'machine' | 'money'; label: string }

export type TimelineStepProps = {
  id: string
  name: string
  /** How deep in sub-agents. */
  depth?: number
  part?: TimelinePart
  wait?: TimelineWait
  tookMs: number | undefined
  isChosen?: boolean
  onChoose?: () => void
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
const share = (value: number): string => `${(Math.max(0, Math.min(1, value)) * 100).toFixed(2)}%`

export const TimelineStep = (props: TimelineStepProps) => {
  const { id, name, depth = 0, part, wait, tookMs, isChosen = false, onChoose } = props
  return (
    <button
      type="button"
      data-step={id}
      aria-pressed={isChosen}
      onClick={onChoose}
      className={`grid h-6 w-full grid-cols-[92px_minmax(0,1fr)_60px] items-center gap-2 px-3 text-left text-small outline-offset-[-2px] ${isChosen ? 'bg-accent-quiet' : 'hover:bg-n2'}`}
    >
      <span
        className={`truncate ${part?.kind === 'failed' ? 'text-failed' : depth > 0 ? 'text-n9' : 'text-n10'}`}
        style={{ paddingLeft: depth * 12 }}
      >
        {name}
      </span>
      <span className="relative h-2">
        {part && (
          <span
            className={`absolute top-0 h-2 min-w-0.5 rounded-[2px] ${bars[part.kind]}`}
            style={{ left: share(part.from), width: share(part.to - part.from) }}
          />
        )}
        {wait && (
          <span
            className={`absolute -top-[5px] right-0 rounded-full px-[7px] leading-[18px] whitespace-nowrap ${waits[wait.owner]}`}
          >
            {wait.label}
          </span>
        )}
      </span>
      <span className="text-right whitespace-nowrap text-n9">
        {tookMs === undefined ? '' : formatDuration(tookMs)}
      </span>
    </button>
  )
}

export const TimelineTurn = ({
  title,
  beside,
  children,
}: {
  title: string
  beside: string
  children: ReactNode
}) => (
  <section>
    <h2 className="sticky top-0 z-[1] flex h-[30px] items-center border-b border-n3 bg-n1 px-3 font-medium text-n11">
      {title}
      <span className="ml-auto text-small font-normal text-n9">{beside}</span>
    </h2>
    <div className="py-0.5">{children}</div>
  </section>
)
