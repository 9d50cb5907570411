/** The trace of a turn, made of its events in the log. It has names, times and counts, and nothing that was said. */
import { createHash } from 'node:crypto'
import type { EventType, NewEvent } from '@steward/protocol/events.ts'
import type { OpenAITrace, OtlpAttribute, OtlpSpan } from '@steward/protocol/openai/traces.ts'
import type { EventRow } from '../../../sessions/log/log.ts'
import { eventOf, readEvents } from '../../../sessions/log/log.ts'
import { names, operations } from '../../traces/conventions.ts'
import { unixSeconds } from '../page.ts'
import { answeredBy, isCall, outputTypes, resultTypes } from '../turns/item.ts'
import type { LoggedTurn } from '../turns/turn.ts'
import type { SessionLog } from '../turns/turns.ts'

/** Rows of one read: results of calls may be long. */
const piece = 50
/** Spans of one trace, and of one page of traces but for its last. */
export const mostSpans = { trace: 1_000, page: 5_000 }

/** Of OTLP. */
const kinds = { internal: 1, client: 3 }
const failed = { code: 2 }

const types: readonly EventType[] = [
  ...outputTypes.filter(isCall),
  ...resultTypes,
  'span.model_request_start',
  'span.model_request_end',
]

const text = (key: string, stringValue: string): OtlpAttribute => ({ key, value: { stringValue } })
const count = (key: string, value: number): OtlpAttribute => ({
  key,
  value: { intValue: String(value) },
})

const nanosOf = (at: string): string => `${Date.parse(at)}000000`
/** The same for each reader. */
const hexOf = (id: string, length: number): string =>
  createHash('sha256').update(id).digest('hex').slice(0, length)

type LoggedEvent = { row: EventRow; event: NewEvent }
/** What began and has ended. */
type Work = { begun: LoggedEvent; ended: LoggedEvent }

/** The event that an event ends the work of. */
const endedBy = (event: NewEvent): string | undefined =>
  event.type === 'span.model_request_end' ? event.model_request_start_id : answeredBy(event)

/** Spans of work that has ended, in the order of its end. */
async function workOf(
  { read, tenant, session, thread }: SessionLog,
  { first, last }: LoggedTurn,
): Promise<Work[]> {
  const open = new Map<string, LoggedEvent>()
  const work: Work[] = []
  const before = last === null ? undefined : last + 1
  for (let after = first - 1; work.length < mostSpans.trace;) {
    const range = { after, before, types, limit: piece, thread }
    const rows = await readEvents(read, tenant, session, range)
    for (const row of rows) {
      const event = eventOf(row)
      const of = endedBy(event)
      const begun = of === undefined ? undefined : open.get(of)
      if (begun) work.push({ begun, ended: { row, event } })
      else if (of === undefined) open.set(row.id, { row, event })
    }
    if (rows.length < piece) break
    after = rows.at(-1)?.seq ?? after
  }
  return work.slice(0, mostSpans.trace)
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
      name: `${operations.tool} ${name}`,
      kind: kinds.internal,
      attributes: [
        text(names.operation, operations.tool),
        text(names.tool, name),
        text(names.toolCall, begun.id ?? ''),
      ],
    }
  }
  const { model_usage: usage } = ended
  const { cache_read_input_tokens: cached, cache_creation_input_tokens: kept } = usage
  return {
    name: operations.model,
    kind: kinds.client,
    attributes: [
      text(names.operation, operations.model),
      count(names.inputTokens, usage.input_tokens + cached + kept),
      count(names.outputTokens, usage.output_tokens),
      count(names.cacheReadTokens, cached),
      count(names.cacheWriteTokens, kept),
    ],
  }
}

const isFailed = (event: NewEvent): boolean => 'is_error' in event && event.is_error === true

export async function traceOf(
  log: SessionLog,
  turn: LoggedTurn,
): Promise<{ trace: OpenAITrace; size: number }> {
  const { session, agent } = log
  const traceId = hexOf(turn.id, 32)
  const whole = {
    traceId,
    spanId: hexOf(turn.id, 16),
    name: operations.turn,
    kind: kinds.internal,
    startTimeUnixNano: nanosOf(turn.createdAt),
    endTimeUnixNano: nanosOf(turn.completedAt ?? turn.createdAt),
    attributes: [
      text(names.operation, operations.turn),
      text(names.conversation, session),
      text('gen_ai.agent.id', agent),
    ],
    status: turn.status === 'failed' ? failed : {},
  }
  const work = (await workOf(log, turn)).map(({ begun, ended }): OtlpSpan => ({
    traceId,
    spanId: hexOf(begun.row.id, 16),
    parentSpanId: whole.spanId,
    ...described(begun.event, ended.event),
    startTimeUnixNano: nanosOf(begun.row.created_at),
    endTimeUnixNano: nanosOf(ended.row.created_at),
    status: isFailed(ended.event) ? failed : {},
  }))
  const resource = { attributes: [text('service.name', 'steward')] }
  const scopeSpans = [{ scope: { name: 'steward' }, spans: [whole, ...work] }]
  return {
    size: work.length + 1,
    trace: {
      id: turn.id,
      object: 'agent.session.trace',
      session_id: session,
      created_at: unixSeconds(turn.createdAt),
      otlp: { resourceSpans: [{ resource, scopeSpans }] },
    },
  }
}
