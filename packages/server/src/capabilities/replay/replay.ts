/** Runs the turns of a record again with another agent, until the first event that differs. */
import { emptyHistory, foldHistory } from '@steward/harness/history.ts'
import { onlyWhenFull } from '@steward/harness/compaction/settings.ts'
import type { OpenCall, RunTurn, TurnEnd } from '@steward/harness/turn.ts'
import type { NewEvent } from '@steward/protocol/events.ts'
import type { ReplayDivergence } from '@steward/protocol/replays.ts'
import type { SessionAgent } from '@steward/protocol/sessions.ts'
import { newId } from '../../ground/core/text/ids.ts'
import { normalizeEvents, diffTexts, inCallOrder } from './difference.ts'
import type { RecordedTurn, SessionRecord } from './record.ts'
import { isCall } from '@steward/protocol/call-events.ts'
import { recordedModel } from './recorded-model.ts'
import {
  callOfResult,
  recordedServers,
  recordedTools,
  collectRecordedResults,
} from './recorded-tools.ts'

export type ReplayOutcome = {
  turns: number
  events: number
  divergence: ReplayDivergence | null
}

export async function replayRecord(
  { runTurn, next }: { runTurn: RunTurn; next: () => Promise<void> },
  record: SessionRecord,
  agent: SessionAgent,
): Promise<ReplayOutcome> {
  const results = collectRecordedResults(record)
  const tools = recordedTools(agent, record, results)
  const servers = recordedServers(agent, record, results)
  let history = emptyHistory()
  /** Calls that wait for an approval or a result. */
  const waiting = new Map<string, OpenCall>()
  let events = 0
  for (const [index, turn] of record.turns.entries()) {
    await next()
    const open = continuedCalls(turn, waiting)
    history = foldHistory(history, asKept(turn.given))
    const steps = runTurn({
      harness: agent.harness,
      compaction: onlyWhenFull,
      system: agent.system ?? '',
      history,
      model: recordedModel(turn.made),
      tools,
      servers,
      refusals: () => [],
      notices: () => [],
      changed: async () => [],
      announced: async () => [],
      open,
      cacheKey: 'replay',
      maxRequests: turn.made.length + 1,
      retryDelaysMs: [],
      sleep: async () => {},
      newEventId: () => newId('event'),
      signal: new AbortController().signal,
      report: (error) => {
        throw error
      },
    })
    const { made, end } = await follow(steps)
    const divergence = firstDifference(turn, made)
    if (divergence) return { turns: index, events: events + divergence.index, divergence }
    events += turn.made.length
    history = foldHistory(history, asKept(turn.made.map(({ event }) => event)))
    addWaitingCalls(turn, end, waiting)
  }
  return { turns: record.turns.length, events, divergence: null }
}

const asKept = (events: readonly NewEvent[]) => events.map((event) => ({ event }))

async function follow(steps: ReturnType<RunTurn>): Promise<{ made: NewEvent[]; end: TurnEnd }> {
  const made: NewEvent[] = []
  for (;;) {
    const next = await steps.next()
    const kept = next.done ? next.value.last : next.value.type === 'keep' ? next.value.kept : []
    for (const { event } of kept) made.push(event)
    if (next.done) return { made, end: next.value }
  }
}

/** Waiting calls that this turn continues, because they were confirmed. Results of custom tools are in the history. */
function continuedCalls({ given }: RecordedTurn, waiting: Map<string, OpenCall>): OpenCall[] {
  const open: OpenCall[] = []
  for (const event of given) {
    if (event.type === 'user.custom_tool_result') waiting.delete(event.custom_tool_use_id)
    if (event.type !== 'user.tool_confirmation') continue
    const call = waiting.get(event.tool_use_id)
    if (!call) continue
    waiting.delete(event.tool_use_id)
    const { deny_message } = event
    if (event.result === 'allow') open.push({ ...call, decision: 'run' })
    else open.push({ ...call, decision: 'deny', ...(deny_message && { deny_message }) })
  }
  return open
}

/** Adds the calls to `waiting` that wait after the turn. */
function addWaitingCalls(
  { made }: RecordedTurn,
  { stop }: TurnEnd,
  waiting: Map<string, OpenCall>,
): void {
  if (stop.type !== 'requires_action') return
  const done = new Set(made.flatMap(({ event }) => callOfResult(event) ?? []))
  for (const { event } of made)
    if (isCall(event) && !done.has(event.id)) {
      const { id: event_id, name, input } = event
      waiting.set(event_id, { event_id, name, input, decision: 'wait' })
    }
}

function firstDifference(turn: RecordedTurn, made: readonly NewEvent[]): ReplayDivergence | null {
  const recorded = inCallOrder(turn.made.map(({ event }) => event))
  const replayed = inCallOrder(made)
  const [before, now] = [normalizeEvents(recorded), normalizeEvents(replayed)]
  const length = Math.max(before.length, now.length)
  for (let index = 0; index < length; index++) {
    if (before[index] === now[index]) continue
    const seq = turn.made.find(({ event }) => event === recorded[index])?.seq
    return {
      index,
      seq: seq ?? turn.made.at(-1)?.seq ?? 0,
      recorded: recorded[index] ?? null,
      replayed: replayed[index] ?? null,
      diff: diffTexts(before[index] ?? '', now[index] ?? ''),
    }
  }
  return null
}
