import type { Kysely } from 'kysely'
import { sql } from 'kysely'

/** Facts that pages for people show. They are null for sessions and agent versions of before. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    'alter table session_heads add column turns bigint',
    ...['creator_type', 'creator_id', 'creator_name'].map(
      (name) => `alter table agent_versions add column ${name} text`,
    ),
    'alter table members add column looked_ms bigint',
    `create table saved_views (
      tenant_id text not null, owner_id text not null, id text not null, name text not null, noun text not null,
      filters text not null, created_at text not null,
      constraint saved_views_key primary key (tenant_id, owner_id, id))`,
    'create unique index saved_views_named on saved_views (tenant_id, owner_id, noun, name)',
    'create index saved_views_of_owner on saved_views (owner_id)',
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}
