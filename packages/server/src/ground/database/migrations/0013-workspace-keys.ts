import type { Kysely } from 'kysely'
import { sql } from 'kysely'

const keys = `create table workspace_keys (
  tenant_id text not null, sealed text not null, created_at text not null,
  constraint workspace_keys_key primary key (tenant_id))`

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(keys).execute(db)
}
