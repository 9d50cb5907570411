import { useEffect, useMemo } from 'react'
import type { TimelineRow } from '../../components/timeline.tsx'
import { TimelineMap, TimelineTurn } from '../../components/timeline.tsx'
import { talkWords } from '../../lib/session/talk-words.ts'
import { words } from '../../lib/words.ts'
import type { FollowedLog } from './log.ts'
import type { TimelinePeriod } from './timeline.ts'
import { entryOf, timelineOf } from './timeline.ts'

export type TimelineViewProps = {
  log: FollowedLog
  chosen: string | undefined
  /** Calls that wait for a person. */
  asked: ReadonlySet<string>
  onChoose: (id: string) => void
}

/** Turns that are on the page at once. */
const shownTurns = 60

function useTimeline({ log, chosen }: Pick<TimelineViewProps, 'log' | 'chosen'>) {
  const periods = useMemo(() => timelineOf(log.events).slice(-shownTurns), [log.events])
  const entry = useMemo(
    () =>
      entryOf(
        periods,
        log.events.find(({ id }) => id === chosen),
      ),
    [periods, log.events, chosen],
  )
  // Turns before the first event here are not counted: their numbers are not known.
  const titleOf = ({ number }: TimelinePeriod) =>
    log.hasEarlier ? words.session.oneTurn : words.session.turnNumber(number)
  return { periods, entry, titleOf }
}

/** The newest turn comes first. */
export function TimelineView({ log, chosen, asked, onChoose }: TimelineViewProps) {
  const { periods, entry, titleOf } = useTimeline({ log, chosen })
  useEffect(() => {
    if (entry === undefined) return
    document
      .querySelector(`[data-step="${CSS.escape(entry)}"]`)
      ?.scrollIntoView({ block: 'nearest' })
  }, [entry])
  return periods
    .toReversed()
    .map((period) => (
      <TimelineTurn
        key={period.id}
        title={titleOf(period)}
        times={{ work: period.workMs, wait: period.waitMs, wall: period.wallMs }}
        idle={period.idle}
        rows={rowsOf(period, asked)}
        chosen={entry}
        onChoose={onChoose}
      />
    ))
}

function rowsOf({ entries, lanes }: TimelinePeriod, asked: ReadonlySet<string>): TimelineRow[] {
  const rowOf = (entry: TimelinePeriod['entries'][number], depth: number): TimelineRow => {
    const { id, name, kind, from, to, tookMs, idleMs, waitedMs } = entry
    const owner = waitedMs === undefined ? 'machine' : 'person'
    return {
      id,
      name,
      depth,
      tookMs,
      part: { kind, from, to },
      wait: idleMs === undefined ? undefined : { owner, ms: idleMs },
      isAsking: asked.has(id),
    }
  }
  return [
    ...entries.map((entry) => rowOf(entry, 0)),
    ...lanes.flatMap((lane) => [
      {
        id: lane.id,
        name: lane.name,
        tookMs: lane.tookMs,
        chooses: lane.entries[0]?.id,
        part: { kind: 'agent', from: lane.from, to: lane.to } as const,
      },
      ...lane.entries.map((entry) => rowOf(entry, 1)),
    ]),
  ]
}

/** Turns that have room in one line. */
const mapTurns = 20

/** The turns in one line. */
export function TimelineLine({ log, chosen, onChoose }: Omit<TimelineViewProps, 'asked'>) {
  const { periods, entry, titleOf } = useTimeline({ log, chosen })
  const turns = periods.slice(-mapTurns).map((period) => ({
    id: period.id,
    title: titleOf(period),
    size: Math.max(1, Math.sqrt(period.workMs)),
    parts: period.entries.map(({ id, kind, from, to }) => ({
      id,
      kind,
      from: from.share,
      to: to.share,
    })),
  }))
  if (turns.length === 0) return null
  return (
    <TimelineMap label={talkWords.timelineMap} turns={turns} chosen={entry} onChoose={onChoose} />
  )
}
