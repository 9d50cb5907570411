import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import { dialectOf } from '../dialect.ts'

/** What holds for one workspace in place of what the server is set to. */
const limits = `create table workspace_limits (
  tenant_id text not null, name text not null, source text not null, value bigint not null,
  period_ms bigint not null, updated_at text not null,
  constraint workspace_limits_key primary key (tenant_id, name, source))`

/** Counters that processes share. They may be lost with the database, and are not worth a log. */
const counters = `create unlogged table rate_limits (
  key text primary key, full_at bigint not null, drawn bigint not null, seen bigint not null)`

export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = dialectOf(db) === 'sqlite' ? [limits] : [counters, limits]
  for (const statement of statements) await sql.raw(statement).execute(db)
}
