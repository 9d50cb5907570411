import { number, table, text } from '../table.ts'

export const wakeupTables = {
  /** Scheduled wake-ups of threads; at most one for each thread. */
  wakeups: table({
    rows: 'tenant',
    key: ['tenant_id', 'session_id', 'thread_id'],
    columns: {
      tenant_id: text(),
      session_id: text(),
      /** The thread, which may be the primary one. */
      thread_id: text(),
      due_ms: number(),
      /** The event that scheduled the wake-up. */
      event_id: text(),
      note: text(),
    },
  }),
  /** What a process that runs a session waits for before the turn goes on. A row of an earlier generation is void. */
  session_waits: table({
    rows: 'tenant',
    key: ['tenant_id', 'session_id', 'type'],
    columns: {
      tenant_id: text(),
      session_id: text(),
      type: text<'packages' | 'files' | 'sandbox' | 'mcp'>(),
      generation: number(),
      since_ms: number(),
    },
  }),
}
