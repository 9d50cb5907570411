export type WakeupTables = {
  /** When a thread is to be woken; at most one time each. */
  wakeups: {
    tenant_id: string
    session_id: string
    /** The primary thread too. */
    thread_id: string
    due_ms: number
    /** The event that has scheduled it. */
    event_id: string
    note: string
  }
}
