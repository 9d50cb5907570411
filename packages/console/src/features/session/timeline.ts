/**
 * Where the time of each turn went. The order is that of the log. Time in which only somebody was waited for has no
 * length on the scale, so that the work can be seen.
 */
import type { SessionEvent } from '../../lib/api/types.ts'
import { momentOf, threadOf } from './moments.ts'

type TimelineEntry = {
  /** The event that began it. */
  id: string
  name: string
  kind: 'model' | 'tool' | 'failed' | 'running'
  /** Shares of the work of the turn, 0 to 1. */
  from: number
  to: number
  tookMs: number | undefined
  /** How long a person was waited for, before it began. */
  waitedMs: number | undefined
  /** Of a child thread: its id. */
  thread: string | undefined
}

/** What a child thread did during the turn. */
type TimelineLane = {
  id: string
  name: string
  from: number
  to: number
  tookMs: number
  entries: TimelineEntry[]
}

export type TimelinePeriod = {
  id: string
  number: number
  workMs: number
  waitMs: number
  entries: TimelineEntry[]
  lanes: TimelineLane[]
}

type Span = { from: number; to: number }
type OpenEntry = Omit<TimelineEntry, 'from' | 'to' | 'tookMs'> & Span & { isOpen: boolean }
type OpenPeriod = {
  id: string
  runs: Span[]
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
    if (event.type === 'user.message' && periods.at(-1)?.isRunning !== true)
      periods.push({
        id: event.id,
        runs: [],
        isRunning: false,
        lastAt: at,
        entries: new Map(),
        names: new Map(),
      })
    const period = periods.at(-1)
    if (!period) continue
    period.lastAt = at
    if (thread !== undefined && 'agent_name' in event)
      period.names.set(thread, String(event.agent_name))
    addTo(period, event, at, thread)
  }
  return periods.map((period, index) => closed(period, index + 1))
}

function addTo(
  period: OpenPeriod,
  event: SessionEvent,
  at: number,
  thread: string | undefined,
): void {
  switch (event.type) {
    case 'session.status_running':
      if (!period.isRunning) period.runs.push({ from: at, to: at })
      period.isRunning = true
      return
    case 'session.status_idle':
    case 'session.status_terminated':
      endRun(period, at)
      return
    case 'span.model_request_start':
      begin(period, { id: event.id, name: 'model', kind: 'model', thread }, at)
      return
    case 'span.model_request_end':
      end(period, event.model_request_start_id, at, event.is_error)
      return
    case 'agent.tool_use':
    case 'agent.mcp_tool_use':
      begin(period, { id: event.id, name: event.name, kind: 'tool', thread }, at)
      return
    case 'agent.tool_result':
      end(period, event.tool_use_id, at, event.is_error ?? false)
      return
    case 'agent.mcp_tool_result':
      end(period, event.mcp_tool_use_id, at, event.is_error ?? false)
      return
    case 'user.tool_confirmation': {
      const entry = period.entries.get(event.tool_use_id)
      if (!entry) return
      entry.waitedMs = at - entry.from
      entry.from = at
      return
    }
    default:
  }
}

function begin(
  { entries }: OpenPeriod,
  entry: Pick<OpenEntry, 'id' | 'name' | 'kind' | 'thread'>,
  at: number,
): void {
  entries.set(entry.id, { ...entry, from: at, to: at, isOpen: true, waitedMs: undefined })
}

function end({ entries }: OpenPeriod, id: string, at: number, isError: boolean): void {
  const entry = entries.get(id)
  if (!entry) return
  entry.to = at
  entry.isOpen = false
  if (isError) entry.kind = 'failed'
}

function endRun(period: OpenPeriod, at: number): void {
  const run = period.runs.at(-1)
  if (run && period.isRunning) run.to = at
  period.isRunning = false
}

function closed(period: OpenPeriod, number: number): TimelinePeriod {
  const { id, runs, isRunning, lastAt, entries, names } = period
  const ended = runs.map((run, at) =>
    isRunning && at === runs.length - 1 ? { ...run, to: lastAt } : run,
  )
  const workMs = ended.reduce((sum, { from, to }) => sum + to - from, 0)
  const wholeMs = (ended.at(-1)?.to ?? 0) - (ended[0]?.from ?? 0)
  /** The work that was done until a moment, as a share of all. */
  const share = (at: number): number => {
    const done = ended.reduce((sum, { from, to }) => sum + Math.max(0, Math.min(at, to) - from), 0)
    return workMs === 0 ? 0 : done / workMs
  }
  const shown = [...entries.values()].map((entry): TimelineEntry => {
    const { isOpen, from, to, ...rest } = entry
    const isGoing = isOpen && isRunning
    return {
      ...rest,
      kind: isGoing ? 'running' : rest.kind,
      from: share(from),
      to: isGoing ? 1 : share(to),
      tookMs: isOpen ? undefined : to - from,
    }
  })
  const own = shown.filter(({ thread }) => thread === undefined)
  const lanes = lanesOf(shown, names)
  return { id, number, workMs, waitMs: wholeMs - workMs, entries: folded(own), lanes }
}

function lanesOf(
  entries: readonly TimelineEntry[],
  names: ReadonlyMap<string, string>,
): TimelineLane[] {
  const threads = Map.groupBy(entries, ({ thread }) => thread)
  return [...threads].flatMap(([thread, all]) => {
    if (thread === undefined) return []
    const from = Math.min(...all.map((each) => each.from))
    const to = Math.max(...all.map((each) => each.to))
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
    const isAlike =
      entry.kind === 'tool' &&
      entry.waitedMs === undefined &&
      last?.every(({ name, kind, waitedMs }) => {
        return name === entry.name && kind === 'tool' && waitedMs === undefined
      })
    if (last && isAlike) last.push(entry)
    else groups.push([entry])
  }
  return groups.flatMap((group) => {
    const [first] = group
    if (!first || group.length === 1) return group
    const tookMs = group.reduce((sum, each) => sum + (each.tookMs ?? 0), 0)
    const to = Math.max(...group.map((each) => each.to))
    return [{ ...first, name: `${first.name} × ${group.length}`, to, tookMs }]
  })
}
