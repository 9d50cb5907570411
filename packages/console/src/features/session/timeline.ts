/**
 * Where the time of each turn went. The order is that of the log. Time in which nobody worked, a person's or a
 * machine's, has no length on the scale where it is long: a marker stands for it, so that the work can be seen.
 */
import type { SessionEvent } from '../../lib/api/types.ts'
import type { TimelinePosition } from '../../lib/timeline-scale.ts'
import { momentOf, threadOf } from './moments.ts'

type TimelineEntry = {
  /** The event that began it. */
  id: string
  name: string
  kind: 'model' | 'tool' | 'failed' | 'running'
  from: TimelinePosition
  to: TimelinePosition
  tookMs: number | undefined
  /** How long nobody worked right before it, where a marker stands for that. */
  idleMs: number | undefined
  /** How long a person was waited for, before it began. */
  waitedMs: number | undefined
  /** Of a child thread: its id. */
  thread: string | undefined
  /** The events that it consists of. */
  events: readonly string[]
  /** The places in the log of its first and its last event. */
  seqs: { first: number; last: number }
}

/** What a child thread did during the turn. */
type TimelineLane = {
  id: string
  name: string
  from: TimelinePosition
  to: TimelinePosition
  tookMs: number
  entries: TimelineEntry[]
}

export type TimelinePeriod = {
  id: string
  number: number
  workMs: number
  waitMs: number
  wallMs: number
  /** Where markers stand: the share of the work that was done before each. */
  idle: readonly number[]
  entries: TimelineEntry[]
  lanes: TimelineLane[]
}

type Span = { from: number; to: number }
type OpenEntry = Pick<TimelineEntry, 'id' | 'name' | 'kind' | 'thread' | 'waitedMs' | 'seqs'> &
  Span & { isOpen: boolean; events: string[] }
type OpenPeriod = {
  id: string
  /** From the first run to the end of the last one. */
  from: number | undefined
  to: number
  isRunning: boolean
  lastAt: number
  entries: Map<string, OpenEntry>
  /** Names of the agents of child threads. */
  names: Map<string, string>
}

export function timelineOf(events: readonly SessionEvent[]): TimelinePeriod[] {
  const periods: OpenPeriod[] = []
  for (const event of events) {
    const at = momentOf(event)
    const thread = threadOf(event)
    if (event.type === 'user.message' && isOver(periods.at(-1)))
      periods.push({
        id: event.id,
        from: undefined,
        to: at,
        isRunning: false,
        lastAt: at,
        entries: new Map(),
        names: new Map(),
      })
    const period = periods.at(-1)
    if (!period) continue
    period.lastAt = Math.max(period.lastAt, at)
    if (thread !== undefined && 'agent_name' in event)
      period.names.set(thread, String(event.agent_name))
    addTo(period, event, at, thread)
  }
  return periods
    .map((period, index) => closed(period, index + 1))
    .filter(({ entries, lanes }) => entries.length + lanes.length > 0)
}

/** Messages that wait for one turn are one period; so is a message that comes while the agent works. */
const isOver = (period: OpenPeriod | undefined): boolean =>
  period === undefined || (period.from !== undefined && !period.isRunning)

function addTo(
  period: OpenPeriod,
  event: SessionEvent,
  at: number,
  thread: string | undefined,
): void {
  const ended = endedBy(event)
  if (ended !== undefined) {
    end(period, ended, event, at)
    return
  }
  switch (event.type) {
    case 'session.status_running':
      period.from ??= at
      period.isRunning = true
      return
    case 'session.status_idle':
    case 'session.status_terminated':
      if (period.isRunning) period.to = at
      period.isRunning = false
      return
    case 'span.model_request_start':
      begin(period, event, { name: 'model', kind: 'model', thread }, at)
      return
    case 'agent.tool_use':
    case 'agent.mcp_tool_use':
    case 'agent.custom_tool_use':
      begin(period, event, { name: event.name, kind: 'tool', thread }, at)
      return
    case 'user.tool_confirmation':
      decide(period, event.tool_use_id, event, at)
      return
    default:
  }
}

type EndedEntry = { id: string; isError: boolean }

/** The step that an event ends. */
function endedBy(event: SessionEvent): EndedEntry | undefined {
  switch (event.type) {
    case 'span.model_request_end':
      return { id: event.model_request_start_id, isError: event.is_error }
    case 'agent.tool_result':
    case 'user.tool_result':
      return { id: event.tool_use_id, isError: event.is_error ?? false }
    case 'agent.mcp_tool_result':
      return { id: event.mcp_tool_use_id, isError: event.is_error ?? false }
    case 'user.custom_tool_result':
      return { id: event.custom_tool_use_id, isError: event.is_error ?? false }
    default:
      return undefined
  }
}

function begin(
  { entries }: OpenPeriod,
  { id, seq }: SessionEvent,
  entry: Pick<OpenEntry, 'name' | 'kind' | 'thread'>,
  at: number,
): void {
  const seqs = { first: seq ?? 0, last: seq ?? 0 }
  const span = { from: at, to: at, isOpen: true, waitedMs: undefined }
  entries.set(id, { ...entry, ...span, id, seqs, events: [id] })
}

/** A person has decided: what is waited for ends, and the work begins. */
function decide({ entries }: OpenPeriod, id: string, event: SessionEvent, at: number): void {
  const entry = entries.get(id)
  if (!entry) return
  entry.waitedMs = at - entry.from
  entry.from = at
  entry.to = at
  entry.events.push(event.id)
}

function end(
  period: OpenPeriod,
  { id, isError }: EndedEntry,
  event: SessionEvent,
  at: number,
): void {
  const entry = period.entries.get(id)
  if (!entry) return
  const isUnbegun = !period.isRunning && entry.waitedMs === undefined && entry.kind === 'tool'
  // The answer of a person is the whole call.
  if (isUnbegun || event.type === 'user.custom_tool_result') decide(period, id, event, at)
  entry.to = at
  entry.isOpen = false
  entry.events.push(event.id)
  entry.seqs.last = event.seq ?? entry.seqs.last
  // An interrupt ended what was waited for: no tool has failed.
  const isRetired = isUnbegun && event.type.startsWith('agent.')
  if (isError && !isRetired) entry.kind = 'failed'
}

/** Idle time beyond this share of the work has a marker. */
const longIdle = 0.05

/** Where anybody worked, as spans that do not touch; short idle times between them count as work. */
function busySpans(spans: readonly Span[], { from, to }: Span): { busy: Span[]; idle: Span[] } {
  const joined: Span[] = []
  for (const span of spans.toSorted((one, other) => one.from - other.from)) {
    const last = joined.at(-1)
    if (last && span.from <= last.to) last.to = Math.max(last.to, span.to)
    else joined.push({ ...span })
  }
  const work = joined.reduce((sum, span) => sum + span.to - span.from, 0)
  const ends = [...joined, { from: to, to }]
  const idle = ends
    .map((span, at) => ({ from: joined[at - 1]?.to ?? from, to: span.from }))
    .filter((span) => span.to - span.from > work * longIdle && work > 0)
  const busy: Span[] = []
  let begun = from
  for (const span of idle) {
    busy.push({ from: begun, to: span.from })
    begun = span.to
  }
  return { busy: [...busy, { from: begun, to }], idle }
}

function closed(period: OpenPeriod, number: number): TimelinePeriod {
  const { id, isRunning, lastAt, entries, names } = period
  const whole = { from: period.from ?? lastAt, to: isRunning ? lastAt : period.to }
  const spans = [...entries.values()].map((entry) => ({
    from: entry.from,
    to: entry.isOpen && isRunning ? whole.to : entry.to,
  }))
  const worked = spans.filter(({ from, to }) => to > from)
  const { busy, idle } = busySpans(worked, whole)
  const wallMs = Math.max(0, whole.to - whole.from)
  const waitMs = idle.reduce((sum, { from, to }) => sum + to - from, 0)
  const workMs = wallMs - waitMs
  /** The work that was done until a moment, as a share of all, and the markers before it. */
  const placeOf = (at: number): TimelinePosition => {
    const done = busy.reduce((sum, { from, to }) => sum + Math.max(0, Math.min(at, to) - from), 0)
    const before = idle.filter(({ to }) => to <= at).length
    return { share: workMs === 0 ? 0 : Math.min(1, done / workMs), markers: before }
  }
  const marked = new Map(idle.map((span) => [span.to, span.to - span.from]))
  const shown = [...entries.values()].map((entry): TimelineEntry => {
    const { isOpen, from, to, ...rest } = entry
    const isGoing = isOpen && isRunning
    const idleMs = marked.get(from)
    // One row has the marker: the first that begins behind it.
    marked.delete(from)
    return {
      ...rest,
      kind: isGoing ? 'running' : rest.kind,
      from: placeOf(from),
      to: placeOf(isGoing ? whole.to : to),
      tookMs: isOpen ? undefined : to - from,
      idleMs,
    }
  })
  const own = shown.filter(({ thread }) => thread === undefined)
  return {
    id,
    number,
    workMs,
    waitMs,
    wallMs,
    idle: idle.map(({ from }) => placeOf(from).share),
    entries: folded(own),
    lanes: lanesOf(shown, names),
  }
}

const isBefore = (one: TimelinePosition, other: TimelinePosition): boolean =>
  one.markers === other.markers ? one.share < other.share : one.markers < other.markers
const earliest = (places: readonly TimelinePosition[]): TimelinePosition =>
  places.reduce((one, other) => (isBefore(other, one) ? other : one))
const latest = (places: readonly TimelinePosition[]): TimelinePosition =>
  places.reduce((one, other) => (isBefore(one, other) ? other : one))

function lanesOf(
  entries: readonly TimelineEntry[],
  names: ReadonlyMap<string, string>,
): TimelineLane[] {
  const threads = Map.groupBy(entries, ({ thread }) => thread)
  return [...threads].flatMap(([thread, all]) => {
    if (thread === undefined) return []
    const from = earliest(all.map((each) => each.from))
    const to = latest(all.map((each) => each.to))
    const tookMs = all.reduce((sum, each) => sum + (each.tookMs ?? 0), 0)
    return [
      { id: thread, name: names.get(thread) ?? thread, from, to, tookMs, entries: folded(all) },
    ]
  })
}

/** Calls of one tool that follow each other, as one: `read × 3`. */
function folded(entries: readonly TimelineEntry[]): TimelineEntry[] {
  const groups: TimelineEntry[][] = []
  for (const entry of entries) {
    const last = groups.at(-1)
    const isPlain = ({ kind, waitedMs }: TimelineEntry) => kind === 'tool' && waitedMs === undefined
    const isAlike =
      isPlain(entry) &&
      entry.idleMs === undefined &&
      last?.every((each) => each.name === entry.name && isPlain(each))
    if (last && isAlike) last.push(entry)
    else groups.push([entry])
  }
  return groups.flatMap((group) => {
    const [first] = group
    if (!first || group.length === 1) return group
    const tookMs = group.reduce((sum, each) => sum + (each.tookMs ?? 0), 0)
    const to = latest(group.map((each) => each.to))
    const seqs = { first: first.seqs.first, last: Math.max(...group.map(({ seqs }) => seqs.last)) }
    const events = group.flatMap((each) => each.events)
    return [{ ...first, name: `${first.name} × ${group.length}`, to, tookMs, events, seqs }]
  })
}

/** The entry that an event belongs to: of which it is a part, or during which it came. */
export function entryOf(
  periods: readonly TimelinePeriod[],
  event: Pick<SessionEvent, 'id' | 'seq'> | undefined,
): string | undefined {
  if (!event) return undefined
  const entries = periods.flatMap((period) => [
    ...period.entries,
    ...period.lanes.flatMap((lane) => lane.entries),
  ])
  const own = entries.find(({ events }) => events.includes(event.id))
  const { seq } = event
  if (own || seq === null) return own?.id
  return entries.find(({ seqs }) => seqs.first <= seq && seq <= seqs.last)?.id
}
