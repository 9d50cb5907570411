import type { Kysely } from 'kysely'
import { sql } from 'kysely'

const columns = 'tenant_id, id, name, record, archived_at, created_at, updated_at, reclaim_ms'

/** An archived environment frees its name: unique are the names of the others. SQLite drops no constraint of a table. */
const statements = [
  `create table environments_next (
     tenant_id text not null, id text not null, name text not null, record text not null,
     archived_at text, created_at text not null, updated_at text not null,
     reclaim_ms bigint not null default 0,
     primary key (tenant_id, id))`,
  `insert into environments_next (${columns}) select ${columns} from environments`,
  'drop table environments',
  'alter table environments_next rename to environments',
  'create index environments_listed on environments (tenant_id, created_at, id)',
  'create unique index environments_name on environments (tenant_id, name) where archived_at is null',
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
