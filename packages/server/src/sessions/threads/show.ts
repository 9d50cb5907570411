/** The wire form of a thread. [threads/list] */
import type { ThreadAgent } from '@steward/protocol/agents.ts'
import type { Session, SessionUsage } from '@steward/protocol/sessions.ts'
import { primaryThreadId } from '../../ground/core/text/ids.ts'
import { fromJson } from '../../ground/core/text/json-text.ts'
import { inCents } from '../../ground/core/text/money.ts'
import type { Reads } from '../../ground/database/database.ts'
import { serverToolUse } from '../log/head.ts'
import { readEvents } from '../log/log.ts'
import type { ThreadSpending, ThreadRow } from '../log/threads/store.ts'
import { threadAgent } from '../rows/roster.ts'
import { sessionEndMs } from '../rows/show-session.ts'

const hasTokens = (usage: SessionUsage): boolean =>
  usage.input_tokens + usage.output_tokens + usage.cache_read_input_tokens > 0 ||
  usage.cache_creation.ephemeral_5m_input_tokens > 0

/**
 * Seconds from the creation of the session to its first turn. 0 without a turn, and for a fork, which has the turns of
 * an older session.
 */
export async function startupSeconds(db: Reads, tenant: string, session: Session): Promise<number> {
  const range = { types: ['session.status_running'], thread: null, limit: 1 }
  const [first] = await readEvents(db, tenant, session.id, range)
  if (!first) return 0
  return Math.max(0, Date.parse(first.created_at) - Date.parse(session.created_at)) / 1000
}

/** The primary thread of a session without others: another name for the session and its log. */
export const primaryAlone = (session: Session, startup_seconds: number) => ({
  id: primaryThreadId(session.id),
  type: 'session_thread',
  session_id: session.id,
  parent_thread_id: null,
  agent: threadAgent(session.agent),
  status: session.status,
  stats: session.status === 'pending' ? null : { ...session.stats, startup_seconds },
  usage: hasTokens(session.usage) ? session.usage : null,
  workflow_run_id: null,
  archived_at: session.archived_at,
  created_at: session.created_at,
  updated_at: session.updated_at,
})

/** The status that a thread shows. An idle thread that is due counts as running. */
export const statusOf = ({ status, due }: ThreadRow, session: Session): Session['status'] =>
  session.status === 'failed'
    ? 'failed'
    : session.archived_at
      ? 'done'
      : status === 'idle' && due === 1
        ? 'running'
        : status

const agentOf = ({ kind, agent }: ThreadRow, session: Session) => {
  if (agent === '') return threadAgent(session.agent)
  const own = fromJson(agent)
  if (kind === 'advisor')
    return { type: 'advisor', model: typeof own.model === 'string' ? own.model : own.model.id }
  const shown: ThreadAgent = threadAgent(own)
  if (kind !== 'inline') return shown
  const { id: _id, version: _version, type: _type, ...rest } = shown
  return { type: 'inline', ...rest }
}

export function showThread(
  row: ThreadRow,
  session: Session,
  { now, primary, startup }: { now: number; primary: ThreadSpending; startup: number },
) {
  const isPrimary = row.kind === 'primary'
  const activeMs = row.active_ms + (row.running_since_ms === null ? 0 : now - row.running_since_ms)
  const created_at = isPrimary ? session.created_at : row.created_at
  const endMs = row.archived_at ? Date.parse(row.archived_at) : sessionEndMs(session, now)
  const hasBegun = row.idle_since_ms !== null || activeMs > 0 || row.status !== 'idle'
  return {
    ...primaryAlone(session, startup),
    id: row.id,
    parent_thread_id: isPrimary ? null : primaryThreadId(session.id),
    agent: agentOf(row, session),
    status: statusOf(row, session),
    stats: hasBegun
      ? {
          active_seconds: activeMs / 1000,
          duration_seconds: (endMs - Date.parse(created_at)) / 1000,
          // Other threads begin at once.
          startup_seconds: isPrimary ? startup : 0,
        }
      : null,
    usage: row.idle_since_ms === null ? null : usageOf(isPrimary ? primary : row, activeMs),
    archived_at: row.archived_at ?? session.archived_at,
    created_at,
    updated_at: row.updated_at,
  }
}

const usageOf = (row: ThreadSpending, activeMs: number): SessionUsage => ({
  input_tokens: row.input_tokens,
  output_tokens: row.output_tokens,
  cache_read_input_tokens: row.cache_read_input_tokens,
  cache_creation: {
    ephemeral_5m_input_tokens: row.cache_creation_input_tokens,
    ephemeral_1h_input_tokens: 0,
  },
  active_seconds: activeMs / 1000,
  list_cost: row.unpriced === 1 ? null : inCents(row.list_cost),
  server_tool_use: serverToolUse(row),
})
