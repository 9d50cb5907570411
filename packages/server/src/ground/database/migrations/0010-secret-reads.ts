import type { Kysely } from 'kysely'
import { sql } from 'kysely'

/** The trail of what was read from secret managers. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [
    `create table secret_reads (
      tenant_id text not null, id text not null, session_id text, vault_id text, credential_id text, actor_id text,
      manager text not null, name text not null, field text, version text, result text not null,
      created_at text not null, seq bigint, hash text,
      constraint secret_reads_by_id primary key (tenant_id, id))`,
    'create index secret_reads_by_age on secret_reads (tenant_id, created_at, id)',
    'create index secret_reads_of_session on secret_reads (tenant_id, session_id, created_at, id)',
    'create index secret_reads_by_seq on secret_reads (tenant_id, seq) where seq > 0',
    'create index secret_reads_unchained on secret_reads (tenant_id, created_at, id) where seq is null',
  ])
    await sql.raw(statement).execute(db)
}
