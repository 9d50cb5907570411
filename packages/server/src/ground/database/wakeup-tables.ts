export type WakeupTables = {
  /** Scheduled wake-ups of threads; at most one for each thread. */
  wakeups: {
    tenant_id: string
    session_id: string
    /** The thread, which may be the primary one. */
    thread_id: string
    due_ms: number
    /** The event that scheduled the wake-up. */
    event_id: string
    note: string
  }
  /** What a process that runs a session waits for before the turn goes on. A row of an earlier generation is void. */
  session_waits: {
    tenant_id: string
    session_id: string
    type: 'packages' | 'files' | 'sandbox' | 'mcp'
    generation: number
    since_ms: number
  }
}
