/** The events that a turn gets in its log when its process ended or was stopped. */
import { noUsage } from '@steward/model/model.ts'
import type { NewEvent } from '@steward/protocol/events.ts'
import { newId } from '../../ground/core/text/ids.ts'
import { fromJson } from '../../ground/core/text/json-text.ts'
import type { Queries } from '../../ground/database/database.ts'
import type { PendingCall } from '../../sessions/log/calls.ts'
import type { Head } from '../../sessions/log/head.ts'
import type { LogEntry, PricedModel } from '../../sessions/log/log.ts'
import { danglingSpan, eventOf, readEvents } from '../../sessions/log/log.ts'
import type { ThreadRef } from '../../ground/core/refs.ts'

/** Failed requests before the last one that reported its usage. */
const lookedBack = 20

/** True when a stopping process gave the turn back. Such a turn does not count as a failed attempt. */
export const wasGivenBack = (head: Head): boolean => head.previous_owner === null

/**
 * A `session.warning` that names the calls which began and have no result, for people: their effect is unknown. The
 * model learns it from the results that the harness gives these calls. Returns no events when a stopping
 * process gave the turn back between two steps.
 */
export async function abandonedTurnEvents(
  tx: Queries,
  ref: ThreadRef,
  head: Head,
  open: PendingCall[],
): Promise<LogEntry[]> {
  const lost = open.filter((call) => call.state === 'started').map((call) => call.event_id)
  const spans = await countCut(tx, ref, await cutSpans(tx, ref))
  const isGivenBack = wasGivenBack(head)
  if (isGivenBack && lost.length === 0 && spans.length === 0) return []
  const who = `the process that ran this turn ${isGivenBack ? 'was stopped' : 'ended'}`
  const warning: NewEvent = {
    id: newId('event'),
    type: 'session.warning',
    reason: isGivenBack ? 'turn_handed_over' : 'turn_recovered',
    message:
      lost.length > 0
        ? `${who}; ${lost.length} tool call(s) were begun and have no result`
        : `${who}; what its model had not finished is lost`,
    event_ids: lost,
  }
  return [{ event: warning }, ...spans]
}

/**
 * A request that lost its process counts with the input of the thread's request before it: its provider counts it, and
 * nobody heard how much. Without one before it, nothing is known. [sessions/usage/cut-request]
 */
async function countCut(
  tx: Queries,
  { tenant, session, thread }: ThreadRef,
  ends: readonly LogEntry[],
): Promise<LogEntry[]> {
  const isRequest = ({ event }: LogEntry) => event.type === 'span.model_request_end'
  if (!ends.some(isRequest)) return [...ends]
  const range = {
    types: ['span.model_request_end'],
    order: 'desc',
    limit: lookedBack,
    thread: thread ?? null,
  } as const
  const before = (await readEvents(tx, tenant, session, range)).map(eventOf)
  const usage = before
    .flatMap((event) => (event.type === 'span.model_request_end' ? [event.model_usage] : []))
    .find(({ input_tokens, cache_read_input_tokens }) => input_tokens + cache_read_input_tokens > 0)
  const model = await lastModel(tx, tenant, session)
  if (!usage || !model) return [...ends]
  const model_usage = { ...usage, output_tokens: 0 }
  return ends.map((end) =>
    isRequest(end) && 'model_usage' in end.event
      ? { event: { ...end.event, model_usage }, model }
      : end,
  )
}

/** The model of the last request that was counted, with its price. */
async function lastModel(
  tx: Queries,
  tenant: string,
  session: string,
): Promise<PricedModel | undefined> {
  const { counted_model: name, counted_price: price } = await tx
    .selectFrom('session_heads')
    .select(['counted_model', 'counted_price'])
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', session)
    .executeTakeFirstOrThrow()
  return name ? { name, price: price ? fromJson(price) : null } : undefined
}

/** Ends for model requests that lost their process, so that every start event has an end event. */
export async function cutSpans(
  tx: Queries,
  { tenant, session: sessionId, thread }: ThreadRef,
): Promise<LogEntry[]> {
  const ref = { tenant, session: sessionId, thread }
  const request = await danglingSpan(tx, ref, 'span.model_request')
  const summary = await danglingSpan(tx, ref, 'span.compaction_summarize')
  const cut = { is_error: true, model_usage: noUsage }
  const ends: NewEvent[] = []
  if (summary) {
    const type = 'span.compaction_summarize_end'
    ends.push({ id: newId('event'), type, compaction_summarize_start_id: summary, ...cut })
  }
  if (request) {
    const type = 'span.model_request_end'
    ends.push({ id: newId('event'), type, model_request_start_id: request, ...cut })
  }
  return ends.map((event) => ({ event }))
}
