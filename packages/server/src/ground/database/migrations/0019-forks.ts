import type { Kysely } from 'kysely'
import { sql } from 'kysely'

const columns = `tenant_id, session_id, seq, taken_at, base_key, base_size, base_sha256, delta_key, delta_size, delta_sha256`

const statements = [
  'alter table sessions add column forked_from text',
  `create table past_checkpoints (
    tenant_id text not null, session_id text not null, seq bigint not null, taken_at text not null,
    base_key text not null, base_size bigint not null, base_sha256 text not null, delta_key text,
    delta_size bigint, delta_sha256 text,
    constraint past_checkpoints_key primary key (tenant_id, session_id, seq))`,
  // Several sessions may have an archive: the session of a key is not its only holder.
  'create index past_checkpoints_by_base on past_checkpoints (tenant_id, base_key)',
  'create index past_checkpoints_by_delta on past_checkpoints (tenant_id, delta_key) where delta_key is not null',
  'create index checkpoints_by_base on checkpoints (tenant_id, base_key) where base_key is not null',
  'create index checkpoints_by_delta on checkpoints (tenant_id, delta_key) where delta_key is not null',
  // Of a session that rests, a checkpoint has what its last event left.
  `insert into past_checkpoints (${columns})
    select ${columns.replaceAll(/\b(tenant_id|session_id)\b/g, 'checkpoints.$1').replace('seq', 'head.next_seq')}
    from checkpoints join session_heads as head
      on head.tenant_id = checkpoints.tenant_id and head.session_id = checkpoints.session_id
    where base_key is not null and taken_at is not null and head.status = 'idle'`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
