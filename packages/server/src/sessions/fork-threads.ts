/**
 * The child threads of a session in its fork. They are history there: each has its events, and has ended. A fork is made
 * where no child works or waits for an answer. [forks/threads]
 */
import type { NewEvent, StopReason } from '@steward/protocol/events.ts'
import { iso } from '@steward/base/time.ts'
import { invalid } from '../ground/core/errors.ts'
import { newId, primaryThreadId } from '../ground/core/text/ids.ts'
import { toJson } from '../ground/core/text/json-text.ts'
import type { Queries, Reads } from '../ground/database/database.ts'
import type { Head } from './log/head.ts'
import { readHead } from './log/head.ts'
import { threadNameFields } from './log/idle.ts'
import type { LogEntry } from './log/log.ts'
import { eventOf, readLogPage } from './log/log.ts'
import { threadStore } from './log/threads/store.ts'

type ForkCut = { tenant: string; from: string; at: number }

/** `started`: the children that the log up to the event has. `ended`: those among them that have ended by then. */
export type ForkedThreads = { started: ReadonlySet<string>; ended: ReadonlySet<string> }

const types = [
  'session.thread_created',
  'session.thread_status_running',
  'session.thread_status_rescheduled',
  'session.thread_status_idle',
  'session.thread_status_terminated',
] as const
type ChildEvent = Extract<NewEvent, { type: (typeof types)[number] }>

const page = { limit: 1_000, bytes: 4 * 1024 * 1024 }

/** Throws where a child is open at the event, and names the nearest events at which none is. */
export async function threadsAt(db: Reads, cut: ForkCut): Promise<ForkedThreads> {
  const found = { started: new Set<string>(), ended: new Set<string>() }
  const { threads } = await readHead(db, cut.tenant, cut.from)
  if (threads === 0) return found
  const open = new Map<string, string>()
  /** The last event before a child has begun to work, while one works. */
  let before = 0
  let working: string[] | undefined
  for await (const { seq, event } of threadEvents(db, cut)) {
    if (seq > cut.at) working ??= [...open.values()]
    if (working?.length === 0) break
    if (open.size === 0) before = seq - 1
    const { session_thread_id: thread, agent_name: name } = event
    if (isOpening(event)) open.set(thread, name)
    else open.delete(thread)
    if (!working) remember(found, event)
    else if (open.size === 0) throw openChild(cut, working, before, seq)
  }
  if (open.size > 0) throw openChild(cut, working ?? [...open.values()], before)
  return found
}

function remember(
  { started, ended }: Record<keyof ForkedThreads, Set<string>>,
  { type, session_thread_id: thread }: ChildEvent,
): void {
  if (type === 'session.thread_created') started.add(thread)
  if (type === 'session.thread_status_terminated') ended.add(thread)
}

/** What is told of the children's states. */
async function* threadEvents(
  db: Reads,
  { tenant, from }: ForkCut,
): AsyncGenerator<{ seq: number; event: ChildEvent }> {
  for (let after = 0; ;) {
    const { rows, more } = await readLogPage(db, tenant, from, { after, types, ...page })
    for (const row of rows) {
      const event = eventOf(row) as ChildEvent
      if (event.session_thread_id !== primaryThreadId(from)) yield { seq: row.seq, event }
    }
    after = rows.at(-1)?.seq ?? after
    if (!more) return
  }
}

/** A thread that waits for an answer is open: its calls would have no results. */
function isOpening(event: ChildEvent): boolean {
  if (event.type === 'session.thread_status_idle')
    return event.stop_reason.type === 'requires_action'
  return event.type !== 'session.thread_status_terminated'
}

function openChild({ from, at }: ForkCut, names: string[], before: number, next?: number) {
  const then =
    next === undefined ? 'or at a later one, once they rest' : `or at event ${next}, when they rest`
  return invalid(
    `at_seq: agents that session ${from} has started (${names.join(', ')}) work at event ${at}, and are not taken along; fork at event ${before}, ${then}`,
  )
}

/** Puts the rows of the threads into the fork, of which the primary one goes on. */
export async function insertThreads(
  tx: Queries,
  { tenant, from, id }: { tenant: string; from: string; id: string },
  { started }: ForkedThreads,
  { name, head, now }: { name: string; head: Head; now: number },
): Promise<void> {
  const store = threadStore(tx)
  const stop: StopReason = { type: 'end_turn' }
  await store.insert(
    {
      tenant_id: tenant,
      session_id: id,
      id: primaryThreadId(id),
      kind: 'primary',
      name,
      agent: '',
      url_servers: head.url_servers,
      stop_reason: toJson(stop),
      idle_since_ms: now,
    },
    now,
  )
  for (const { kind, name, agent, stop_reason, id: child, ...row } of await store.all(tenant, from))
    if (started.has(child))
      await store.insert(
        {
          tenant_id: tenant,
          session_id: id,
          id: child,
          kind,
          name,
          agent,
          stop_reason,
          status: 'done',
          url_servers: row.url_servers,
          archived_at: iso(now),
          idle_since_ms: row.idle_since_ms,
        },
        now,
      )
}

/** The ends of the children that had not ended by themselves. */
export async function endsOfThreads(
  tx: Queries,
  { tenant, id }: { tenant: string; id: string },
  { started, ended }: ForkedThreads,
): Promise<LogEntry[]> {
  const type = 'session.thread_status_terminated'
  return (await threadStore(tx).all(tenant, id))
    .filter((row) => started.has(row.id) && !ended.has(row.id))
    .map((row) => ({
      event: { id: newId('event'), type, ...threadNameFields(row) },
      thread: row.id,
    }))
}
