import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import { dialectOf } from '../dialect.ts'

const lines = `create table audit_lines (
  tenant_id text not null, id text not null, action text not null, resource_type text not null,
  resource_id text, parent_id text, actor_type text not null, actor_id text, actor_name text,
  credential_type text not null, credential_id text, address text, user_agent text, request_id text,
  method text, route text, before_fields text, after_fields text, created_at text not null, seq bigint,
  hash text, constraint audit_lines_key primary key (tenant_id, id))`

const heads = `create table audit_heads (
  tenant_id text not null, trail text not null, seq bigint not null, hash text not null,
  first_seq bigint not null, first_previous_hash text not null, begun_at text not null,
  updated_at text not null, signature text not null,
  constraint audit_heads_key primary key (tenant_id, trail))`

/** Trails that had rows before there were chains. */
const olderTrails = ['credential_uses', 'credential_changes']

export async function up(db: Kysely<unknown>): Promise<void> {
  const isPostgres = dialectOf(db) === 'postgres'
  const statements = [
    lines,
    'create index audit_lines_by_age on audit_lines (tenant_id, created_at, id)',
    'create index audit_lines_of_resource on audit_lines (tenant_id, resource_id, created_at, id)',
    heads,
    ...olderTrails.flatMap((table) => [
      // The default is that of rows which are there already; each insertion names its own.
      `alter table ${table} add column seq bigint default -1`,
      `alter table ${table} add column hash text`,
      ...(isPostgres ? [`alter table ${table} alter column seq drop default`] : []),
    ]),
    ...['audit_lines', ...olderTrails].flatMap((table) => [
      `create index ${table}_by_seq on ${table} (tenant_id, seq) where seq > 0`,
      `create index ${table}_unchained on ${table} (tenant_id, created_at, id) where seq is null`,
    ]),
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}
