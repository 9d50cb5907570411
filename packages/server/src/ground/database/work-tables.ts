import type { workStates } from '@steward/protocol/work.ts'
import type { Json } from '../core/json-text.ts'

export type WorkTables = {
  work: {
    tenant_id: string
    environment_id: string
    id: string
    session_id: string
    state: (typeof workStates)[number]
    /** Grows with each claim. A worker with a lower generation has lost the item. */
    generation: number
    /** The item cannot be claimed before. */
    due_ms: number
    /** When the item was claimed, acknowledged or not. Null: not claimed. */
    reserved_ms: number | null
    /** When a claim lapses that is not acknowledged. */
    reserved_until_ms: number | null
    /** The worker that claimed the item, by its own name, and that worker's key. */
    worker_id: string | null
    key_id: string | null
    /** End of the worker's lease. */
    lease_ms: number | null
    /** The value that the next heartbeat must name, and the value that the last one named. */
    heartbeat: string | null
    heartbeat_before: string | null
    /** Consecutive acknowledged claims that left work undone, and when the first and the last of them did. */
    attempts: number
    left_first_ms: number | null
    left_last_ms: number | null
    /** 1 once the session has the warning that no worker claims it. */
    warned: number
    /** 1 once the end of the lease or of an unacknowledged claim was announced. */
    hinted: number
    metadata: Json<Record<string, string>>
    created_at: string
    acknowledged_at: string | null
    started_at: string | null
    latest_heartbeat_at: string | null
    stop_requested_at: string | null
    stopped_at: string | null
  }
  work_pollers: { tenant_id: string; environment_id: string; worker_id: string; seen_ms: number }
}
