export type IdempotencyTables = {
  /** Keys of requests that were done, for a day: whoever repeats one is not served twice. */
  idempotency_keys: {
    tenant_id: string
    /** What the request was for: a session, for example. */
    scope: string
    key: string
    body_hash: string
    created_ms: number
    /** What the request made. */
    made_id: string | null
  }
  /** The pairs of the metadata of sessions, for lists by a pair. */
  session_metadata: { tenant_id: string; session_id: string; key: string; value: string }
}
