/** A log that is cut behind an event: what was open there, and the events that close it. */
import { noUsage } from '@steward/model/model.ts'
import type { EventType, NewEvent } from '@steward/protocol/events.ts'
import { callTypes } from '@steward/protocol/call-events.ts'
import { newId } from '../../ground/core/text/ids.ts'
import type { Reads } from '../../ground/database/database.ts'
import { closingResult } from './closing.ts'
import { turnBegin } from './head.ts'
import { eventOf, readLogPage } from './log.ts'

const page = { limit: 1_000, bytes: 4 * 1024 * 1024 }

const resultTypes = [
  'agent.tool_result',
  'agent.mcp_tool_result',
  'agent.advisor_tool_result',
  'user.tool_result',
  'user.custom_tool_result',
] as const satisfies readonly EventType[]
const spanTypes = [
  'span.model_request_start',
  'span.model_request_end',
  'span.compaction_summarize_start',
  'span.compaction_summarize_end',
] as const

type LogCut = { tenant: string; session: string; at: number }

/**
 * Results for the calls without one at the event, and ends of open spans. Reads back to the beginning of the event's
 * turn.
 */
export async function closingsAt(db: Reads, cut: LogCut, why: string): Promise<NewEvent[]> {
  const open = new Map<string, NewEvent>()
  let after = (await turnOf(db, cut)) - 1
  for (;;) {
    const { rows, more } = await readLogPage(db, cut.tenant, cut.session, {
      after,
      before: cut.at + 1,
      types: [...callTypes, ...resultTypes, ...spanTypes],
      ...page,
    })
    for (const row of rows) follow(open, eventOf(row))
    after = rows.at(-1)?.seq ?? after
    if (!more) break
  }
  return [...open.values()].map((event) => closingOf(event, why))
}

const seqsOf = (db: Reads, { tenant, session }: Omit<LogCut, 'at'>) =>
  db
    .selectFrom('events')
    .select('seq')
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', session)

const positionsOf = (db: Reads, cut: LogCut) => seqsOf(db, cut).limit(1)

/** The `seq` of the event with which the turn began; 1 before the first turn. */
async function turnOf(db: Reads, cut: LogCut): Promise<number> {
  const row = await positionsOf(db, cut)
    .where('seq', '<=', cut.at)
    .where('type', '=', turnBegin)
    .orderBy('seq', 'desc')
    .executeTakeFirst()
  return row?.seq ?? 1
}

function follow(open: Map<string, NewEvent>, event: NewEvent): void {
  switch (event.type) {
    case 'agent.tool_result':
    case 'user.tool_result':
    case 'agent.advisor_tool_result':
      open.delete(event.tool_use_id)
      return
    case 'agent.mcp_tool_result':
      open.delete(event.mcp_tool_use_id)
      return
    case 'user.custom_tool_result':
      open.delete(event.custom_tool_use_id)
      return
    case 'span.model_request_end':
      open.delete(event.model_request_start_id)
      return
    case 'span.compaction_summarize_end':
      open.delete(event.compaction_summarize_start_id)
      return
    default:
      open.set(event.id, event)
  }
}

function closingOf({ id, type }: NewEvent, why: string): NewEvent {
  const cut = { id: newId('event'), is_error: true, model_usage: noUsage }
  if (type === 'span.model_request_start')
    return { ...cut, type: 'span.model_request_end', model_request_start_id: id }
  if (type === 'span.compaction_summarize_start')
    return { ...cut, type: 'span.compaction_summarize_end', compaction_summarize_start_id: id }
  return closingResult({ event_id: id, type }, why)
}

/** The `seq` of each event with which a turn of the session ended, from before the event `at`, the newest first. */
export const turnEndsBefore = async (
  db: Reads,
  { tenant, session, at }: LogCut,
  limit: number,
): Promise<number[]> =>
  (
    await seqsOf(db, { tenant, session })
      .where('type', '=', 'session.status_idle')
      .where('seq', '<', at)
      .orderBy('seq', 'desc')
      .limit(limit)
      .execute()
  ).map(({ seq }) => seq)

/** The `seq` of each result behind `after` and up to `at`, with which files may have changed. */
export const resultsBetween = async (
  db: Reads,
  { tenant, session, at }: LogCut,
  after: number,
): Promise<number[]> =>
  (
    await seqsOf(db, { tenant, session })
      .where('type', 'in', resultTypes)
      .where('seq', '>', after)
      .where('seq', '<=', at)
      .orderBy('seq')
      .execute()
  ).map(({ seq }) => seq)

/** The `seq` of the newest result up to the event; undefined when there is none. */
export async function lastResultUpTo(db: Reads, cut: LogCut): Promise<number | undefined> {
  const row = await positionsOf(db, cut)
    .where('seq', '<=', cut.at)
    .where('type', 'in', resultTypes)
    .orderBy('seq', 'desc')
    .executeTakeFirst()
  return row?.seq
}

/** True when a call had a result by then, so that files of the sandbox may have changed. */
export async function hasResultUpTo(db: Reads, cut: LogCut): Promise<boolean> {
  const row = await positionsOf(db, cut)
    .where('seq', '<=', cut.at)
    .where('type', 'in', resultTypes)
    .executeTakeFirst()
  return row !== undefined
}

/** The `seq` of the first later result, with which files may have changed; undefined when there is none. */
export async function firstResultAfter(db: Reads, cut: LogCut): Promise<number | undefined> {
  const row = await positionsOf(db, cut)
    .where('seq', '>', cut.at)
    .where('type', 'in', resultTypes)
    .orderBy('seq')
    .executeTakeFirst()
  return row?.seq
}
