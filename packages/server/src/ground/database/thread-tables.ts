import type { StopReason } from '@steward/protocol/events.ts'
import type { SessionAgent } from '@steward/protocol/sessions.ts'
import type { Json } from '../core/json-text.ts'

/** The origin of a thread. `self`: a copy of the session's agent. `inline`: an agent that the parent thread defined. */
export type ThreadKind = 'primary' | 'agent' | 'self' | 'inline' | 'advisor'

/** `done`: the thread has ended and never runs again. */
export type ThreadStatus = 'idle' | 'running' | 'rescheduling' | 'done'

export type ThreadTables = {
  /** Threads, the primary one too, of sessions that have started a thread. Other sessions have no rows. */
  threads: {
    tenant_id: string
    session_id: string
    id: string
    kind: ThreadKind
    name: string
    /** The thread's agent. Empty for the primary thread, which has the session's agent. */
    agent: Json<SessionAgent> | ''
    status: ThreadStatus
    stop_reason: Json<StopReason> | null
    /** 1 while the thread has work for a runner. */
    due: number
    /** Number of deaths of the process that ran the thread since the last progress of the turn was stored. */
    recoveries: number
    /** 1 when a turn stopped before a model request because the budget was reached. */
    halted: number
    url_servers: number
    running_since_ms: number | null
    active_ms: number
    idle_since_ms: number | null
    input_tokens: number
    output_tokens: number
    cache_read_input_tokens: number
    cache_creation_input_tokens: number
    list_cost: number
    unpriced: number
    web_searches: number
    archived_at: string | null
    created_at: string
    updated_at: string
  }
}
