/**
 * Times of a schedule, matched against the clock of its zone. A time that the clock skips does not occur, and a time
 * that it shows twice occurs twice, unless the schedule says otherwise. croner enumerates readings of the clock; `Intl` maps them to instants.
 */
import type { CronSchedule, DeploymentSchedule } from '@steward/protocol/deployments.ts'
import { createHash } from 'node:crypto'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/** Distances from a reading at which the offset of the zone is sampled, to find changes of the clock near it. */
const around = [-24 * hour, -3 * hour, 3 * hour, 24 * hour]

/** Clocks and spellings of zones that are kept. A caller may name any offset as a zone, in any letter case. */
const mostKept = 512

/** Returns the kept value, or makes it. Keeps at most `most` values. */
function keptIn<T>(kept: Map<string, T>, key: string, make: () => T, most = mostKept): T {
  const known = kept.get(key)
  if (known !== undefined) return known
  if (kept.size >= most) kept.clear()
  const made = make()
  kept.set(key, made)
  return made
}

const zones = new Map<string, string>()
/** Clocks by the names of their zones, as `zoneOf` returns them. */
const clocks = new Map<string, Intl.DateTimeFormat>()

/** The one spelling of a zone's name. To find it takes nearly a millisecond. */
const zoneOf = (timezone: string): string =>
  keptIn(
    zones,
    timezone,
    () => new Intl.DateTimeFormat('en-US', { timeZone: timezone }).resolvedOptions().timeZone,
  )

const clockOf = (zone: string): Intl.DateTimeFormat =>
  keptIn(
    clocks,
    zone,
    () =>
      new Intl.DateTimeFormat('en-US', {
        timeZone: zone,
        calendar: 'iso8601',
        numberingSystem: 'latn',
        hourCycle: 'h23',
        year: 'numeric',
        month: 'numeric',
        day: 'numeric',
        hour: 'numeric',
        minute: 'numeric',
      }),
  )

/** The reading of the zone's clock, in milliseconds as if it were UTC. */
export function readingAt(timezone: string, at: number): number {
  const parts: Partial<Record<Intl.DateTimeFormatPartTypes, string>> = {}
  for (const { type, value } of clockOf(timezone).formatToParts(at)) parts[type] = value
  const { year, month, day, hour: hours, minute: minutes } = parts
  return Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hours), Number(minutes))
}

/** The instants at which the zone's clock shows the reading: none, one or two, in order. */
function instantsOf(timezone: string, reading: number): number[] {
  const offsets = new Set(around.map((by) => readingAt(timezone, reading + by) - (reading + by)))
  return [...offsets]
    .map((offset) => reading - offset)
    .filter((at) => readingAt(timezone, at) === reading)
    .toSorted((a, b) => a - b)
}

/** The first minute after those that the zone's clock skips together with the reading. */
function afterGap(timezone: string, reading: number): number {
  const offsets = around.map((by) => readingAt(timezone, reading + by) - (reading + by))
  // The clock shows less than the reading before the change, and more from the change on.
  let [before, at] = [reading - Math.max(...offsets), reading - Math.min(...offsets)]
  while (at - before > minute) {
    const middle = before + Math.floor((at - before) / 2 / minute) * minute
    if (readingAt(timezone, middle) < reading) before = middle
    else at = middle
  }
  return at
}

/** The instants at which a schedule runs for the reading, in order. */
function runsOf({ timezone, clock_changes }: Times, reading: number): number[] {
  const [first, ...again] = instantsOf(timezone, reading)
  if (clock_changes === undefined) return first === undefined ? [] : [first, ...again]
  return [first ?? afterGap(timezone, reading)]
}

/** Largest amount by which a clock is put back within a day. */
const mostShift = 3 * hour

type Times = Pick<CronSchedule, 'expression' | 'timezone' | 'clock_changes'>

/** Cache of computed times by their question: many deployments share a schedule. */
const reckoned = new Map<string, Promise<number[]>>()
const mostReckoned = 256

/** Up to `count` times after `after`, in order; fewer when the schedule has no more. */
export function timesAfter(
  { expression, timezone, clock_changes }: Times,
  after: number,
  count: number,
): Promise<readonly number[]> {
  const zone = zoneOf(timezone)
  // Times are whole minutes.
  const from = Math.floor(after / minute) * minute
  const question = `${expression} ${zone} ${clock_changes} ${from} ${count}`
  function reckonAnew(): Promise<number[]> {
    const times = reckon({ expression, timezone: zone, clock_changes }, from, count)
    times.catch(() => reckoned.delete(question))
    return times
  }
  return keptIn(reckoned, question, reckonAnew, mostReckoned)
}

async function reckon(schedule: Times, after: number, count: number): Promise<number[]> {
  const { expression, timezone } = schedule
  const { Cron } = await import('croner')
  const cron = new Cron(expression, { timezone: 'UTC', mode: '5-part', paused: true })
  const offsetAt = (at: number) => readingAt(timezone, at) - Math.floor(at / minute) * minute
  const isSteady = (until: number) => offsetAt(after) === offsetAt(until + mostShift)
  const start = readingAt(timezone, after)
  // If the clock is put back soon, earlier readings occur again.
  let from = new Date(isSteady(after) ? start : start - mostShift)
  const found = new Set<number>()
  const inOrder = () => [...found].toSorted((a, b) => a - b)
  for (;;) {
    const next = cron.nextRun(from)
    if (!next) break
    from = next
    for (const at of runsOf(schedule, next.getTime())) if (at > after) found.add(at)
    if (found.size < count) continue
    const last = inOrder()[count - 1] ?? 0
    if (isSteady(last) || next.getTime() > readingAt(timezone, last) + mostShift) break
  }
  return inOrder().slice(0, count)
}

const [leastJitter, mostJitter] = [5 * second, 9 * minute]
const jitterShare = 0.15

/** Delay of a run after its time, a fixed share of the interval by id, so that schedules do not start all at once. */
export function jitterOf(id: string, interval: number): number {
  const part = createHash('sha256').update(id).digest().readUInt32BE() / 2 ** 32
  const most = Math.min(Math.max(interval * jitterShare, leastJitter), mostJitter)
  return Math.floor(part * most)
}

/** A time of the schedule, and the due time of its run. */
export type NextTime = { next_ms: number; due_ms: number }

/** The first time after `after`; undefined when the schedule has none. */
export async function nextTime(
  id: string,
  schedule: DeploymentSchedule,
  after: number,
): Promise<NextTime | undefined> {
  if (schedule.type === 'once') {
    const at = Date.parse(schedule.run_at)
    return at > after ? { next_ms: at, due_ms: at } : undefined
  }
  const [next, following] = await timesAfter(schedule, after, 2)
  if (next === undefined) return undefined
  const interval = following === undefined ? mostJitter / jitterShare : following - next
  return { next_ms: next, due_ms: next + jitterOf(id, interval) }
}

/** Longest delay after which a missed run is still made up for. */
const patience = 15 * minute

/**
 * For a due schedule: the time to run now, and the next time. Several times may have passed while no process ran: the
 * latest runs if it is recent, the others are skipped.
 */
export async function dueTime(
  id: string,
  schedule: DeploymentSchedule,
  { next_ms }: Pick<NextTime, 'next_ms'>,
  now: number,
): Promise<{ run: number | undefined; next: NextTime | undefined }> {
  // A single time runs however late, because no other time makes up for it.
  if (schedule.type === 'once') return { run: next_ms, next: undefined }
  let run: number | undefined
  let next: NextTime | undefined = await nextTime(
    id,
    schedule,
    Math.max(next_ms, now - patience) - 1,
  )
  while (next && next.due_ms <= now) {
    run = next.next_ms
    next = await nextTime(id, schedule, run)
  }
  return { run, next }
}
