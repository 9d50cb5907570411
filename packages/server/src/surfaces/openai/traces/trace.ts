/** The trace of a turn, made from the turn's events in the log. The trace has names, times and counts, and no texts. */
import { createHash } from 'node:crypto'
import type { NewEvent } from '@steward/protocol/events.ts'
import type { OpenAITrace, OtlpAttribute, OtlpSpan } from '@steward/protocol/openai/traces.ts'
import type { EventRow } from '../../../sessions/log/log.ts'
import { eventOf } from '../../../sessions/log/log.ts'
import { attributeNames, operationNames } from '../../traces/conventions.ts'
import { unixSeconds } from '../page.ts'
import { answeredBy } from '../turns/item.ts'
import { threadRows } from '../turns/store.ts'
import type { LogOwner, LoggedTurn } from '../turns/turn.ts'
import { turnFold } from '../turns/turn.ts'
import type { SessionLog } from '../turns/turns.ts'

/** Bounds of one read: results of calls may be long. */
const page = { limit: 200, bytes: 1024 * 1024 }
/** The most spans of one trace, and of all traces on a page except for the last. */
export const mostSpans = { trace: 1_000, page: 5_000 }

/** The kinds of spans in OTLP. */
const kinds = { internal: 1, client: 3 }
const failed = { code: 2 }

const text = (key: string, stringValue: string): OtlpAttribute => ({ key, value: { stringValue } })
const count = (key: string, value: number): OtlpAttribute => ({
  key,
  value: { intValue: String(value) },
})

const nanosOf = (at: string): string => `${Date.parse(at)}000000`
/** Hashes an id, so that every reader sees the same id. */
const hexOf = (id: string, length: number): string =>
  createHash('sha256').update(id).digest('hex').slice(0, length)

type LoggedEvent = { row: EventRow; event: NewEvent }
/** A model request or a call that has ended. */
type TraceWork = {
  begun: LoggedEvent
  ended: LoggedEvent
  /** The subagent's turn that the work belongs to. */
  parent: LoggedTurn | undefined
}

/** The id of the event that began the work which this event ends. */
const endedBy = (event: NewEvent): string | undefined =>
  event.type === 'span.model_request_end' ? event.model_request_start_id : answeredBy(event)

/** Work that has ended, in the order of its end, of all threads of the session. */
async function workOf(log: SessionLog, { first, last }: LoggedTurn) {
  const open = new Map<string, LoggedEvent>()
  const work: TraceWork[] = []
  const subagents = subagentTurns()
  const before = last === null ? Number.MAX_SAFE_INTEGER : last + 1
  for (let after = first - 1; work.length + subagents.turns.length < mostSpans.trace;) {
    const { rows, more } = await threadRows(log, 'trace', { after, before, ...page })
    for (const row of rows) {
      const parent = subagents.take(row)
      const event = eventOf(row)
      const of = endedBy(event)
      const begun = of === undefined ? undefined : open.get(of)
      if (begun) work.push({ begun, ended: { row, event }, parent })
      else if (of === undefined) open.set(row.id, { row, event })
    }
    if (!more) break
    after = rows.at(-1)?.seq ?? after
  }
  return { work, turns: subagents.turns.filter(({ turn }) => turn.last !== null) }
}

type SubagentTurn = { thread: string; turn: LoggedTurn }

/** Collects the turns of subagents from rows. */
function subagentTurns() {
  const folds = new Map<string, ReturnType<typeof turnFold>>()
  const turns: SubagentTurn[] = []
  return {
    turns,
    /** Returns the subagent's turn that the row belongs to. Undefined for a row of the session itself. */
    take(row: EventRow): LoggedTurn | undefined {
      const { thread_id: thread } = row
      if (!thread) return undefined
      const fold = folds.get(thread) ?? turnFold(thread)
      folds.set(thread, fold)
      const isNew = fold.take(row).includes('created')
      const turn = fold.turn()
      if (isNew && turn) turns.push({ thread, turn })
      return turn
    },
  }
}

function nameOf(event: NewEvent): string {
  if (event.type === 'agent.mcp_tool_use') return event.mcp_tool_name
  return 'name' in event && typeof event.name === 'string' ? event.name : event.type
}

function described(
  begun: NewEvent,
  ended: NewEvent,
): Pick<OtlpSpan, 'name' | 'kind' | 'attributes'> {
  if (ended.type !== 'span.model_request_end') {
    const name = nameOf(begun)
    return {
      name: `${operationNames.tool} ${name}`,
      kind: kinds.internal,
      attributes: [
        text(attributeNames.operation, operationNames.tool),
        text(attributeNames.tool, name),
        text(attributeNames.toolCall, begun.id ?? ''),
      ],
    }
  }
  const { model_usage: usage } = ended
  const { cache_read_input_tokens: cached, cache_creation_input_tokens: kept } = usage
  return {
    name: operationNames.model,
    kind: kinds.client,
    attributes: [
      text(attributeNames.operation, operationNames.model),
      count(attributeNames.inputTokens, usage.input_tokens + cached + kept),
      count(attributeNames.outputTokens, usage.output_tokens),
      count(attributeNames.cacheReadTokens, cached),
      count(attributeNames.cacheWriteTokens, kept),
    ],
  }
}

const isFailed = (event: NewEvent): boolean => 'is_error' in event && event.is_error === true

const spanOf = (id: string): string => hexOf(id, 16)

const turnSpan = (
  { session, agent, thread }: LogOwner,
  turn: LoggedTurn,
): Omit<OtlpSpan, 'traceId' | 'parentSpanId'> => ({
  spanId: spanOf(turn.id),
  name: operationNames.turn,
  kind: kinds.internal,
  startTimeUnixNano: nanosOf(turn.createdAt),
  endTimeUnixNano: nanosOf(turn.completedAt ?? turn.createdAt),
  attributes: [
    text(attributeNames.operation, operationNames.turn),
    text(attributeNames.conversation, session),
    text('gen_ai.agent.id', thread ?? agent),
  ],
  status: turn.status === 'failed' ? failed : {},
})

/** The trace also has the turns of subagents that began and ended before the turn's end. */
export async function buildTrace(
  log: SessionLog,
  turn: LoggedTurn,
): Promise<{ trace: OpenAITrace; size: number }> {
  const { session } = log
  const traceId = hexOf(turn.id, 32)
  const parentSpanId = spanOf(turn.id)
  const { work, turns } = await workOf(log, turn)
  const ofSubagents = turns.map((each): OtlpSpan => ({
    traceId,
    parentSpanId,
    ...turnSpan({ ...log, thread: each.thread }, each.turn),
  }))
  const others = work.map(({ begun, ended, parent }): OtlpSpan => ({
    traceId,
    spanId: spanOf(begun.row.id),
    parentSpanId: spanOf((parent && parent.last !== null ? parent : turn).id),
    ...described(begun.event, ended.event),
    startTimeUnixNano: nanosOf(begun.row.created_at),
    endTimeUnixNano: nanosOf(ended.row.created_at),
    status: isFailed(ended.event) ? failed : {},
  }))
  const spans = [{ traceId, ...turnSpan(log, turn) }, ...ofSubagents, ...others]
  const resource = { attributes: [text('service.name', 'steward')] }
  const scopeSpans = [{ scope: { name: 'steward' }, spans: spans.slice(0, mostSpans.trace) }]
  return {
    size: scopeSpans.reduce((sum, each) => sum + each.spans.length, 0),
    trace: {
      id: turn.id,
      object: 'agent.session.trace',
      session_id: session,
      created_at: unixSeconds(turn.createdAt),
      otlp: { resourceSpans: [{ resource, scopeSpans }] },
    },
  }
}
