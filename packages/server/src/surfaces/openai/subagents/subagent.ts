/** The other agents of a session, which are its child threads. */
import type { OpenAISubagent } from '@steward/protocol/openai/turns.ts'
import { notFound } from '../../../ground/core/errors.ts'
import { eventOf, readEvents } from '../../../sessions/log/log.ts'
import type { ThreadRow } from '../../../sessions/log/threads/store.ts'
import { threadStore } from '../../../sessions/log/threads/store.ts'
import { unixSeconds } from '../page.ts'
import type { SessionLog } from '../turns/turns.ts'

/** Throws for a thread that the session does not have, and for the primary thread. */
export async function findSubagent(
  { read, tenant, session }: SessionLog,
  id: string,
): Promise<ThreadRow> {
  const row = await threadStore(read).find(tenant, session, id)
  if (!row || row.kind === 'primary') throw notFound('subagent', id)
  return row
}

/** `closedAt`: the time at which the session was archived, or null. */
export async function showSubagent(
  { read, tenant, session, agent }: SessionLog,
  row: ThreadRow,
  closedAt: string | null,
): Promise<OpenAISubagent> {
  const types = ['agent.thread_message_received'] as const
  const [first] = await readEvents(read, tenant, session, { types, limit: 1, thread: row.id })
  const told = first && eventOf(first)
  const words = told?.type === 'agent.thread_message_received' ? told.content : undefined
  const closed = row.archived_at ?? closedAt
  return {
    id: row.id,
    object: 'agent.session.subagent',
    session_id: session,
    parent_agent_id: agent,
    name: row.name,
    instructions: words?.map(({ text }) => ({ type: 'output_text', text })) ?? null,
    status: closed === null ? 'active' : 'closed',
    opened_at: unixSeconds(row.created_at),
    closed_at: closed === null ? null : unixSeconds(closed),
  }
}
