import type { DialectName } from '../../dialect.ts'

/** Processes on one Postgres share these counters. They may be lost with the database, and are not worth a log. */
const rateLimits = `create unlogged table rate_limits (
  key text primary key, full_at bigint not null, drawn bigint not null, seen bigint not null)`

/** Workspaces, who may enter them, their limits and their audit. */
export const controlTables = (dialect: DialectName): string[] => [
  ...(dialect === 'postgres' ? [rateLimits] : []),
  `create table settings (
    name text primary key, value text not null)`,
  `create table workspaces (
    id text primary key, name text not null, created_at text not null, archived_at text, deleted_at text)`,
  `create table api_keys (
    tenant_id text not null, id text primary key, kind text not null, name text not null, admin integer not null,
    environment_id text, hash text not null unique, preview text not null, expires_at text, revoked_at text,
    created_at text not null, reach text, read_only integer not null default 0, created_by text, last_used_at text)`,
  'create index api_keys_listed on api_keys (tenant_id, created_at, id)',
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
    created_at text not null, updated_at text not null,
    constraint verifications_key primary key (id))`,
  'create index verifications_by_identifier on verifications (identifier)',
  'create index verifications_by_expiry on verifications (expires_at)',
  `create table members (
    tenant_id text not null, person_id text not null, role text not null, created_at text not null,
    constraint members_key primary key (tenant_id, person_id))`,
  'create index members_of_person on members (person_id)',
  `create table invitations (
    tenant_id text not null, id text not null, email text, mailed integer not null, role text not null,
    token_hash text, invited_by text, accepted_by text, accepted_at text, expires_at text not null,
    created_at text not null,
    constraint invitations_key primary key (tenant_id, id))`,
  'create unique index invitations_by_token on invitations (token_hash)',
  'create index invitations_by_email on invitations (email)',
  'create index invitations_by_age on invitations (tenant_id, created_at, id)',
  // Limits of one workspace that differ from those of the server.
  `create table workspace_limits (
    tenant_id text not null, name text not null, source text not null, value bigint not null,
    period_ms bigint not null, updated_at text not null,
    constraint workspace_limits_key primary key (tenant_id, name, source))`,
  `create table workspace_keys (
    tenant_id text not null, sealed text not null, created_at text not null,
    constraint workspace_keys_key primary key (tenant_id))`,
  // Deleted workspaces of which rows or blobs may still come to light.
  `create table workspace_removals (
    tenant_id text not null, asked_at text not null, next_ms bigint not null, passes integer not null,
    is_settled integer not null, owner text, expires_at bigint not null,
    constraint workspace_removals_key primary key (tenant_id))`,
  `create table tenant_databases (
    tenant_id text not null, created_at text not null, woken_ms bigint not null, due_ms bigint,
    constraint tenant_databases_key primary key (tenant_id))`,
  'create index tenant_databases_due on tenant_databases (due_ms) where due_ms is not null',
  `create table audit_lines (
    tenant_id text not null, id text not null, action text not null, resource_type text not null, resource_id text,
    parent_id text, actor_type text not null, actor_id text, actor_name text, credential_type text not null,
    credential_id text, address text, user_agent text, request_id text, method text, route text, before_fields text,
    after_fields text, created_at text not null, seq bigint, hash text,
    constraint audit_lines_key primary key (tenant_id, id))`,
  'create index audit_lines_by_age on audit_lines (tenant_id, created_at, id)',
  'create index audit_lines_of_resource on audit_lines (tenant_id, resource_id, created_at, id)',
  'create index audit_lines_by_seq on audit_lines (tenant_id, seq) where seq > 0',
  'create index audit_lines_unchained on audit_lines (tenant_id, created_at, id) where seq is null',
  `create table audit_heads (
    tenant_id text not null, trail text not null, seq bigint not null, hash text not null,
    first_seq bigint not null, first_previous_hash text not null, begun_at text not null, updated_at text not null,
    signature text not null,
    constraint audit_heads_key primary key (tenant_id, trail))`,
]
