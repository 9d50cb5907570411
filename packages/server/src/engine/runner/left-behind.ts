/** What is said in the log of a turn whose process ended or was stopped. */
import { noUsage } from '@steward/model/model.ts'
import type { NewEvent } from '@steward/protocol/events.ts'
import { newId } from '../../ground/core/ids.ts'
import type { Queries } from '../../ground/database/database.ts'
import type { PendingCall } from '../../sessions/log/calls.ts'
import type { Head } from '../../sessions/log/head.ts'
import type { Entry } from '../../sessions/log/log.ts'
import { danglingSpan } from '../../sessions/log/log.ts'
import type { WorkNotice } from '../../sessions/log/topics.ts'

/** By a process that was stopped and left its turn to another: no attempt at the turn that failed. */
export const wasGivenBack = (head: Head): boolean => head.previous_owner === null

/**
 * A process left this turn. What it had begun and not kept is told to the model, not guessed. Empty when the turn was
 * given back between two of its steps.
 */
export async function leftBehind(
  tx: Queries,
  place: WorkNotice,
  head: Head,
  open: PendingCall[],
): Promise<Entry[]> {
  const lost = open.filter((call) => call.state === 'started').map((call) => call.event_id)
  const spans = await cutSpans(tx, place)
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

/** The ends of model requests that will have no other: every start has one. */
export async function cutSpans(tx: Queries, { tenant, session }: WorkNotice): Promise<Entry[]> {
  const request = await danglingSpan(tx, tenant, session, 'span.model_request')
  const summary = await danglingSpan(tx, tenant, session, 'span.compaction_summarize')
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
