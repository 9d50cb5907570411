import type { StopReason } from '@steward/protocol/events.ts'
import type { SessionAgent } from '@steward/protocol/sessions.ts'
import type { Json } from '../core/json-text.ts'

/** How a thread came to be. `self`: a copy of the session's agent. `inline`: an agent that its parent defined. */
export type ThreadKind = 'primary' | 'agent' | 'self' | 'inline' | 'advisor'

/** `done`: ended for good. */
export type ThreadStatus = 'idle' | 'running' | 'rescheduling' | 'done'

export type ThreadTables = {
  /** The threads of a session that has started any, the primary one too. Other sessions have no rows. */
  threads: {
    tenant_id: string
    session_id: string
    id: string
    kind: ThreadKind
    name: string
    /** What runs it. The primary thread has its session's agent. */
    agent: Json<SessionAgent> | ''
    status: ThreadStatus
    stop_reason: Json<StopReason> | null
    /** 1 while there is something for a runner to do. */
    due: number
    /** How often a process that ran it has ended, since anything of its turn was last kept. */
    recoveries: number
    /** 1 where a turn was left before a model request, because the budget was reached. */
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
    archived_at: string | null
    created_at: string
    updated_at: string
  }
}
