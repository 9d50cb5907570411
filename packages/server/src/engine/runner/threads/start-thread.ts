/** Starts a thread with its first message. */
import type { SessionAgent } from '@steward/protocol/sessions.ts'
import { newId, primaryThreadId } from '../../../ground/core/text/ids.ts'
import { toJson } from '../../../ground/core/text/json-text.ts'
import type { Queries } from '../../../ground/database/database.ts'
import type { ThreadKind } from '../../../ground/database/tables/threads.ts'
import type { Head } from '../../../sessions/log/head.ts'
import { threadNameFields } from '../../../sessions/log/idle.ts'
import type { LogEntry } from '../../../sessions/log/log.ts'
import { findSendRefusal, sendMessage } from '../../../sessions/log/threads/messages.ts'
import { threadStore } from '../../../sessions/log/threads/store.ts'
import { serversOfHead } from '../../../sessions/stdio-servers/readiness.ts'
import type { SessionRef } from '../../../ground/core/refs.ts'

/** The agent of a new thread, and the thread's name and kind. */
export type NewThread = { kind: ThreadKind; name: string; agent: SessionAgent }

/** `entries`: for the log of the primary thread. `starts`: threads that are due now. */
export type StartedThread = { refused: string } | { entries: LogEntry[]; starts: string[] }

/** `isFirst`: the session has no rows of threads yet, so the primary thread gets a row too. */
export async function startThread(
  tx: Queries,
  { tenant, session }: SessionRef,
  { head, isFirst }: { head: Head; isFirst: boolean },
  told: { id: string; found: NewThread; message: string; coordinator: string; now: number },
): Promise<StartedThread> {
  const { id, found, message, coordinator, now } = told
  const store = threadStore(tx)
  const ref = { tenant_id: tenant, session_id: session }
  const primary = {
    ...({ id: primaryThreadId(session), kind: 'primary', name: coordinator, agent: '' } as const),
    ...({ status: 'running', due: 1, url_servers: head.url_servers } as const),
    running_since_ms: head.running_since_ms,
    active_ms: head.active_ms,
  }
  const { kind, name, agent } = found
  const { url_servers } = serversOfHead(agent)
  const row = { id, kind, name, agent: toJson(agent), url_servers }
  const refused = await findSendRefusal(tx, { tenant, session }, row, message)
  if (refused !== undefined) return { refused }
  if (isFirst) await store.insert({ ...ref, ...primary }, now)
  await store.insert({ ...ref, ...row }, now)
  const words = { from: primary, to: row, text: message, now }
  const sent = await sendMessage(tx, { tenant, session }, words)
  const type = 'session.thread_created'
  const created = {
    id: newId('event'),
    type,
    ...threadNameFields(row),
    workflow_run_id: null,
  } as const
  return { entries: [{ event: created }, { event: sent }], starts: [id] }
}
