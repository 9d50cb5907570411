import type { workStates } from '@steward/protocol/work.ts'
import { json, nullable, number, table, text } from '../table.ts'

export const workTables = {
  work: table({
    rows: 'tenant',
    key: ['tenant_id', 'id'],
    /** Of a worker. */
    lease: { expires: 'lease_ms' },
    columns: {
      tenant_id: text(),
      environment_id: text(),
      id: text(),
      session_id: text(),
      state: text<(typeof workStates)[number]>(),
      /** Grows with each claim. A worker with a lower generation has lost the item. */
      generation: number(),
      /** The item cannot be claimed before. */
      due_ms: number(),
      /** When the item was claimed, acknowledged or not. Null: not claimed. */
      reserved_ms: nullable(number()),
      /** When a claim lapses that is not acknowledged. */
      reserved_until_ms: nullable(number()),
      /** The worker that claimed the item, by its own name, and that worker's key. */
      worker_id: nullable(text()),
      key_id: nullable(text()),
      /** End of the worker's lease. */
      lease_ms: nullable(number()),
      /** The value that the next heartbeat must name, and the value that the last one named. */
      heartbeat: nullable(text()),
      heartbeat_before: nullable(text()),
      /** Consecutive acknowledged claims that left work undone, and when the first and the last of them did. */
      attempts: number(),
      left_first_ms: nullable(number()),
      left_last_ms: nullable(number()),
      /** 1 once the session has the warning that no worker claims it. */
      warned: number(),
      /** 1 once the end of the lease or of an unacknowledged claim was announced. */
      hinted: number(),
      metadata: json<Record<string, string>>(),
      created_at: text(),
      acknowledged_at: nullable(text()),
      started_at: nullable(text()),
      latest_heartbeat_at: nullable(text()),
      stop_requested_at: nullable(text()),
      stopped_at: nullable(text()),
    },
  }),
  work_pollers: table({
    rows: 'tenant',
    key: ['tenant_id', 'environment_id', 'worker_id'],
    columns: {
      tenant_id: text(),
      environment_id: text(),
      worker_id: text(),
      seen_ms: number(),
    },
  }),
}
