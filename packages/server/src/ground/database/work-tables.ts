import type { workStates } from '@steward/protocol/work.ts'
import type { Json } from '../core/json-text.ts'

export type WorkTables = {
  work: {
    tenant_id: string
    environment_id: string
    id: string
    session_id: string
    state: (typeof workStates)[number]
    /** One more each time it is handed out; who has a lower one has lost it. */
    generation: number
    /** Not handed out before. */
    due_ms: number
    /** Since when it is handed out; acknowledged or not. */
    reserved_ms: number | null
    /** When a reservation lapses that nobody acknowledges. */
    reserved_until_ms: number | null
    /** The worker that it was handed to, as the worker names itself, and that worker's key. */
    worker_id: string | null
    key_id: string | null
    /** Until when it is its worker's. */
    lease_ms: number | null
    /** What the next beat must name, and what the last one did. */
    heartbeat: string | null
    heartbeat_before: string | null
    /** How many acknowledged claims in a row left the session with work undone, and when the first and the last did. */
    attempts: number
    left_first_ms: number | null
    left_last_ms: number | null
    /** Whether its session was told that nobody takes it. */
    warned: number
    /** Whether the end of its lease or reservation was announced. */
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
