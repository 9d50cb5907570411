import type { Kysely } from 'kysely'
import { sql } from 'kysely'

/** Deleted workspaces of which something may still come to light. In the control database. */
const removals = `create table workspace_removals (
  tenant_id text not null, asked_at text not null, next_ms bigint not null, passes integer not null,
  is_settled integer not null,  owner text, expires_at bigint not null,
  constraint workspace_removals_key primary key (tenant_id))`

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(removals).execute(db)
}
