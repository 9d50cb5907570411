export type IdempotencyTables = {
  /** Idempotency keys of served requests, kept for a day. A repeated request gets the first answer's object. */
  idempotency_keys: {
    tenant_id: string
    /** The kind of request, such as the creation of a session. */
    scope: string
    key: string
    body_hash: string
    created_ms: number
    /** The id of the object that the request created. */
    made_id: string | null
  }
  /** Pairs of the sessions' metadata, for lists that filter by a pair. */
  session_metadata: { tenant_id: string; session_id: string; key: string; value: string }
}
