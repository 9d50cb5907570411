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
}
