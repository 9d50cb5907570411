import type { Kysely } from 'kysely'
import { sql } from 'kysely'

/** Identities of a company: holders of its tokens, and people who sign in by its groups. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    'alter table members add column provider_id text',
    'alter table sign_ins add column provider_id text',
    `create table subjects (
      id text not null, issuer text not null, subject text not null, provider_id text not null, kind text not null,
      name text, email text, seen_ms bigint not null, created_at text not null,
      constraint subjects_key primary key (id))`,
    'create unique index subjects_by_subject on subjects (issuer, subject)',
    'create index subjects_by_age on subjects (seen_ms)',
    `create table provider_grants (
      tenant_id text not null, id text not null, person_id text not null, provider_id text not null,
      subject text not null, sealed_tokens text not null, confirmed_ms bigint not null, due_ms bigint not null,
      constraint provider_grants_key primary key (tenant_id, id))`,
    'create unique index provider_grants_of_person on provider_grants (person_id, provider_id)',
    'create index provider_grants_due on provider_grants (due_ms)',
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}
