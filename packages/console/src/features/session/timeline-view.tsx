import { Fragment, useMemo } from 'react'
import { TimelineStep, TimelineTurn } from '../../components/timeline.tsx'
import { formatDuration } from '../../lib/format/times.ts'
import { words } from '../../lib/words.ts'
import type { FollowedLog } from './log.ts'
import type { TimelinePeriod } from './timeline.ts'
import { timelineOf } from './timeline.ts'

type TimelineViewProps = {
  log: FollowedLog
  chosen: string | undefined
  /** Calls that wait for a person. */
  asked: ReadonlySet<string>
  onChoose: (id: string) => void
}

/** Turns that are on the page at once. */
const shownTurns = 60

/** The newest turn comes first. */
export function TimelineView({ log, chosen, asked, onChoose }: TimelineViewProps) {
  const periods = useMemo(() => timelineOf(log.events), [log.events])
  // Turns before the first event here are not counted: their numbers are not known.
  const isCounted = !log.hasEarlier
  const shared = { asked, chosen, onChoose }
  return periods
    .slice(-shownTurns)
    .toReversed()
    .map((period) => (
      <TimelineTurn
        key={period.id}
        title={isCounted ? words.session.turnNumber(period.number) : words.session.oneTurn}
        beside={timesOf(period)}
      >
        <Steps entries={period.entries} depth={0} {...shared} />
        {period.lanes.map(({ id, name, from, to, tookMs, entries }) => (
          <Fragment key={id}>
            <TimelineStep
              id={id}
              name={name}
              part={{ kind: 'agent', from, to }}
              tookMs={tookMs}
              onChoose={() => onChoose(entries[0]?.id ?? id)}
            />
            <Steps entries={entries} depth={1} {...shared} />
          </Fragment>
        ))}
      </TimelineTurn>
    ))
}

const Steps = ({
  entries,
  depth,
  asked,
  chosen,
  onChoose,
}: Omit<TimelineViewProps, 'log'> & { entries: TimelinePeriod['entries']; depth: number }) =>
  entries.map((entry) => (
    <TimelineStep
      key={entry.id}
      id={entry.id}
      name={entry.name}
      depth={depth}
      {...(asked.has(entry.id) ? asking : { part: entry })}
      {...(entry.waitedMs !== undefined && !asked.has(entry.id) && waited(entry.waitedMs))}
      tookMs={entry.tookMs}
      isChosen={entry.id === chosen}
      onChoose={() => onChoose(entry.id)}
    />
  ))

const asking = { wait: { owner: 'person', label: words.status.asks } } as const

const waited = (ms: number) =>
  ({ wait: { owner: 'person', label: words.session.waited(formatDuration(ms)) } }) as const

const longWait = 0.05

/** Nothing yet of a turn that has just begun. */
function timesOf({ workMs, waitMs }: TimelinePeriod): string {
  if (workMs === 0) return ''
  const work = formatDuration(workMs)
  return waitMs > workMs * longWait ? words.session.workAndWait(work, formatDuration(waitMs)) : work
}
