import type { Kysely } from 'kysely'
import { sql } from 'kysely'

const indexes = [
  // A session has one item that goes on.
  `unique index work_live on work (tenant_id, session_id) where state <> 'stopped'`,
  // What pollers look for.
  `index work_waiting on work (tenant_id, environment_id, due_ms, id)
     where state = 'queued' and reserved_ms is null`,
  `index work_reserved on work (tenant_id, environment_id, reserved_ms)
     where state = 'queued' and reserved_ms is not null`,
  `index work_held on work (tenant_id, environment_id, lease_ms)
     where state in ('starting', 'active')`,
  // What sweeps look for.
  `index work_stopping on work (lease_ms) where state = 'stopping'`,
  `index work_unclaimed on work (due_ms)
     where state = 'queued' and reserved_ms is null and warned = 0`,
  `index work_stopped on work (stopped_at) where state = 'stopped'`,
  'index work_pollers_seen on work_pollers (seen_ms)',
]

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`drop index work_by_age`.execute(db)
  for (const index of indexes) await sql`create ${sql.raw(index)}`.execute(db)
}
