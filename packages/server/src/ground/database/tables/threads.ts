import type { StopReason } from '@steward/protocol/events.ts'
import type { SessionAgent } from '@steward/protocol/sessions.ts'
import type { Json } from '../../core/text/json-text.ts'
import { json, nullable, number, table, text } from '../table.ts'
import { tokenColumns } from './tokens.ts'

/** The origin of a thread. `self`: a copy of the session's agent. `inline`: an agent that the parent thread defined. */
export type ThreadKind = 'primary' | 'agent' | 'self' | 'inline' | 'advisor'

/** `done`: the thread has ended and never runs again. */
export type ThreadStatus = 'idle' | 'running' | 'rescheduling' | 'done'

export const threadTables = {
  /** Threads, the primary one too, of sessions that have started a thread. Other sessions have no rows. */
  threads: table({
    rows: 'tenant',
    key: ['session_id', 'id'],
    columns: {
      tenant_id: text(),
      session_id: text(),
      id: text(),
      kind: text<ThreadKind>(),
      name: text(),
      /** The thread's agent. Empty for the primary thread, which has the session's agent. */
      agent: text<Json<SessionAgent> | ''>(),
      status: text<ThreadStatus>(),
      stop_reason: nullable(json<StopReason>()),
      /** 1 while the thread has work for a runner. */
      due: number(),
      /** Number of deaths of the process that ran the thread since the last progress of the turn was stored. */
      recoveries: number(),
      /** 1 when a turn stopped before a model request because the budget was reached. */
      halted: number(),
      url_servers: number(),
      running_since_ms: nullable(number()),
      active_ms: number(),
      idle_since_ms: nullable(number()),
      ...tokenColumns,
      list_cost: number(),
      unpriced: number(),
      web_searches: number(),
      archived_at: nullable(text()),
      created_at: text(),
      updated_at: text(),
    },
  }),
}
