/**
 * Copies the beginning of a log into the log of a new session, in small transactions, so that other writers do not
 * wait. The events keep their numbers and ids. A log only grows, so any part of it can be copied at any time.
 */
import { sql } from 'kysely'
import { eventLoop, heavyBytes } from '../../ground/core/fairness/event-loop.ts'
import type { Database, Queries } from '../../ground/database/database.ts'
import { primaryThreadId } from '../../ground/core/text/ids.ts'
import { rowSize } from './texts.ts'

/** `upTo`: the last event that is copied. `hasThreads`: the part has events of several threads. */
export type LogCopy = {
  tenant: string
  from: string
  to: string
  upTo: number
  hasThreads?: boolean
}

/** Limits of one transaction. It takes a few milliseconds, so the event loop needs no pause after it. */
const part = { limit: 250, bytes: heavyBytes }

export async function copyLog(database: Database, copy: LogCopy): Promise<void> {
  let last = 0
  while (last < copy.upTo) {
    await eventLoop.wait(copy.tenant, 'write')
    const after = last
    last = await database.write((tx) => copyPart(tx, copy, after))
  }
  await database.write((tx) => copyCalls(tx, copy))
  await copyTexts(database, copy)
}

const columns = sql`seq, id, type, created_at, processed_at, opaque, thread_id, shared`

/** The primary thread has the id of its session: events that name it name that of the copy. */
const namedAnew = ({ from, to, hasThreads }: LogCopy) =>
  hasThreads
    ? sql`case when type like 'session.thread_status_%' or type like 'agent.thread_message_%'
        then replace(data, ${nameOf(from)}, ${nameOf(to)}) else data end`
    : sql`data`

/** A text that somebody wrote does not hold this: its quotes are escaped. */
const nameOf = (session: string): string => `session_thread_id":"${primaryThreadId(session)}"`

/** Returns the number of the last event that was copied. */
async function copyPart(tx: Queries, copy: LogCopy, after: number): Promise<number> {
  const { tenant, from, to, upTo } = copy
  const next = await tx
    .selectFrom('events')
    .select(['seq', rowSize.as('size')])
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', from)
    .where('seq', '>', after)
    .where('seq', '<=', upTo)
    .orderBy('seq')
    .limit(part.limit)
    .execute()
  let sum = 0
  const last = next.find(({ size }) => (sum += size) >= part.bytes) ?? next.at(-1)
  if (!last) return upTo
  await sql`insert into events (tenant_id, session_id, data, ${columns})
    select tenant_id, ${to}, ${namedAnew(copy)}, ${columns} from events
    where tenant_id = ${tenant} and session_id = ${from} and seq > ${after} and seq <= ${last.seq}`.execute(
    tx,
  )
  return last.seq
}

/** Copies all calls as done: the fork appends results for the calls that are open. */
async function copyCalls(tx: Queries, { tenant, from, to, upTo }: LogCopy): Promise<void> {
  await sql`insert into calls (tenant_id, session_id, event_id, seq, state, deny_message, worker, thread_id)
    select tenant_id, ${to}, event_id, seq, 'done', deny_message, worker, thread_id from calls
    where tenant_id = ${tenant} and session_id = ${from} and seq <= ${upTo}`.execute(tx)
}

/** Copies long texts, one piece in each transaction. */
async function copyTexts(database: Database, { tenant, from, to, upTo }: LogCopy): Promise<void> {
  const texts = await database.read
    .selectFrom('long_texts')
    .select('event_id')
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', from)
    .execute()
  if (texts.length === 0) return
  const copied = await database.read
    .selectFrom('events')
    .select('id')
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', from)
    .where('seq', '<=', upTo)
    .where('data', '=', '')
    .execute()
  const ids = new Set(copied.map(({ id }) => id))
  for (const { event_id: id } of texts.filter(({ event_id }) => ids.has(event_id))) {
    const pieces = await database.read
      .selectFrom('long_text_pieces')
      .select('piece')
      .where('tenant_id', '=', tenant)
      .where('session_id', '=', from)
      .where('event_id', '=', id)
      .execute()
    for (const { piece } of pieces) {
      await eventLoop.wait(tenant, 'write')
      await database.write((tx) =>
        sql`insert into long_text_pieces (tenant_id, session_id, event_id, piece, text)
          select tenant_id, ${to}, event_id, piece, text from long_text_pieces
          where tenant_id = ${tenant} and session_id = ${from} and event_id = ${id}
            and piece = ${piece}`.execute(tx),
      )
    }
    await database.write((tx) =>
      sql`insert into long_texts (tenant_id, session_id, event_id, bytes, state, created_at)
        select tenant_id, ${to}, event_id, bytes, state, created_at from long_texts
        where tenant_id = ${tenant} and session_id = ${from} and event_id = ${id}`.execute(tx),
    )
  }
}
