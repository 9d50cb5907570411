import type { Kysely } from 'kysely'
import { sql } from 'kysely'

/** Rules and retention of workspaces, holds, and removals of the names of people. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `create table workspace_rules (
      tenant_id text not null, allowed text not null, retention text not null, updated_at text not null,
      constraint workspace_rules_key primary key (tenant_id))`,
    `create table holds (
      tenant_id text not null, id text not null, scope text not null, subject_id text not null, reason text not null,
      creator_type text, creator_id text, creator_name text, created_at text not null,
      released_at text, releaser_type text, releaser_id text, releaser_name text,
      constraint holds_key primary key (tenant_id, id))`,
    'create index holds_in_force on holds (tenant_id, scope, subject_id) where released_at is null',
    `create table hold_marks (
      tenant_id text not null, hold_id text not null, person_id text,
      constraint hold_marks_key primary key (tenant_id, hold_id))`,
    'create index hold_marks_of_people on hold_marks (person_id) where person_id is not null',
    `create table person_removals (
      person_id text not null, after_tenant text not null, changed bigint not null, asked_at text not null,
      constraint person_removals_key primary key (person_id))`,
    'create index sessions_of_creators on sessions (tenant_id, creator_id) where creator_id is not null',
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}
