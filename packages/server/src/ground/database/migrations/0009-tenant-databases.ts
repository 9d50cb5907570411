import type { Kysely } from 'kysely'
import { sql } from 'kysely'

const statements = [
  `create table tenant_databases (
    tenant_id text not null, created_at text not null, woken_ms bigint not null, due_ms bigint,
    constraint tenant_databases_key primary key (tenant_id))`,
  'create index tenant_databases_due on tenant_databases (due_ms) where due_ms is not null',
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
