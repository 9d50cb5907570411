import type { Kysely } from 'kysely'
import { sql } from 'kysely'

const statements = [
  `create table people (
    id text not null, email text not null, email_verified integer not null, name text not null,
    operator integer not null default 0, created_at text not null, updated_at text not null,
    constraint people_key primary key (id))`,
  'create unique index people_by_email on people (email)',
  `create table sign_ins (
    id text not null, person_id text not null, token_hash text not null, workspace_id text, ip_address text,
    user_agent text, expires_at text not null, created_at text not null, updated_at text not null,
    constraint sign_ins_key primary key (id))`,
  'create unique index sign_ins_by_token on sign_ins (token_hash)',
  'create index sign_ins_of_person on sign_ins (person_id)',
  'create index sign_ins_by_expiry on sign_ins (expires_at)',
  `create table sign_in_accounts (
    id text not null, person_id text not null, provider_id text not null, account_id text not null,
    password_hash text, created_at text not null, updated_at text not null,
    constraint sign_in_accounts_key primary key (id))`,
  'create unique index sign_in_accounts_by_account on sign_in_accounts (provider_id, account_id)',
  'create index sign_in_accounts_of_person on sign_in_accounts (person_id)',
  `create table verifications (
    id text not null, identifier text not null, value text not null, expires_at text not null,
    created_at text not null, updated_at text not null, constraint verifications_key primary key (id))`,
  'create index verifications_by_identifier on verifications (identifier)',
  'create index verifications_by_expiry on verifications (expires_at)',
  `create table members (
    tenant_id text not null, person_id text not null, role text not null, created_at text not null,
    constraint members_key primary key (tenant_id, person_id))`,
  'create index members_of_person on members (person_id)',
  `create table invitations (
    tenant_id text not null, id text not null, email text, mailed integer not null, role text not null,
    token_hash text, invited_by text, accepted_by text, accepted_at text, expires_at text not null,
    created_at text not null, constraint invitations_key primary key (tenant_id, id))`,
  'create unique index invitations_by_token on invitations (token_hash)',
  'create index invitations_by_email on invitations (email)',
  'create index invitations_by_age on invitations (tenant_id, created_at, id)',
  'alter table workspaces add column archived_at text',
  'alter table workspaces add column deleted_at text',
  'alter table api_keys add column read_only integer not null default 0',
  'alter table api_keys add column created_by text',
  'alter table api_keys add column last_used_at text',
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
