import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import { dialectOf } from '../dialect.ts'

const tables = [
  `create table quota_use (
    tenant_id text not null, name text not null, period text not null, used bigint not null,
    constraint quota_use_key primary key (tenant_id, name, period))`,
  `create table spend_limits (
    tenant_id text not null, id text not null, period text not null, source text not null, amount bigint,
    is_enabled integer not null, created_at text not null, updated_at text not null,
    constraint spend_limits_key primary key (tenant_id, period, source))`,
  `create table usage_days (
    tenant_id text not null, day_ms bigint not null, model text not null, price text not null,
    agent_id text not null, requests bigint not null, input_tokens bigint not null,
    output_tokens bigint not null, cache_read_input_tokens bigint not null,
    cache_creation_input_tokens bigint not null, list_cost bigint not null,
    constraint usage_days_key primary key (tenant_id, day_ms, model, price, agent_id))`,
  'create index usage_hours_by_age on usage_hours (hour_ms)',
]

/** What one row adds to the quota of its workspace, and the columns on which that depends. */
type Counted = { table: string; name: string; of: string; value: (row: string) => string }

const whileOpen = (condition: (row: string) => string) => (row: string) =>
  `(case when ${condition(row)} then 1 else 0 end)`

const counted: Counted[] = [
  {
    table: 'agents',
    name: 'agents',
    of: 'archived_at',
    value: whileOpen((row) => `${row}.archived_at is null`),
  },
  {
    table: 'memory_stores',
    name: 'memory_stores',
    of: 'archived_at, deleted_at',
    value: whileOpen((row) => `${row}.archived_at is null and ${row}.deleted_at is null`),
  },
  {
    table: 'skill_versions',
    name: 'stored_bytes',
    of: 'size_bytes',
    value: (row) => `${row}.size_bytes`,
  },
  { table: 'memories', name: 'stored_bytes', of: 'size', value: (row) => `${row}.size` },
]

const add = (row: string, name: string, delta: string) =>
  `insert into quota_use (tenant_id, name, period, used) values (${row}.tenant_id, '${name}', '', ${delta})
    on conflict (tenant_id, name, period) do update set used = quota_use.used + excluded.used;`

/** Several files may have one blob, which counts once: when its first file comes, and until its last one goes. */
const isOther = (row: string) =>
  `exists (select 1 from files as f where f.tenant_id = ${row}.tenant_id
    and f.blob_key = ${row}.blob_key and f.id <> ${row}.id)`

const onSqlite = [
  ...counted.flatMap(({ table, name, of, value }) => [
    `create trigger ${table}_counted_in after insert on ${table}
      begin ${add('new', name, value('new'))} end`,
    `create trigger ${table}_counted_up after update of ${of} on ${table}
      when ${value('new')} <> ${value('old')}
      begin ${add('new', name, `${value('new')} - ${value('old')}`)} end`,
    `create trigger ${table}_counted_out after delete on ${table}
      begin ${add('old', name, `-${value('old')}`)} end`,
  ]),
  `create trigger files_counted_in after insert on files
    when new.blob_key is not null and not ${isOther('new')}
    begin ${add('new', 'stored_bytes', 'new.size_bytes')} end`,
  `create trigger files_counted_up after update of blob_key on files
    when old.blob_key is not null and new.blob_key is null and not ${isOther('old')}
    begin ${add('old', 'stored_bytes', '-old.size_bytes')} end`,
  `create trigger files_counted_out after delete on files
    when old.blob_key is not null and not ${isOther('old')}
    begin ${add('old', 'stored_bytes', '-old.size_bytes')} end`,
]

const triggerOn = (table: string, of: string, body: string) => [
  `create function count_${table}() returns trigger language plpgsql as $$ begin ${body} return null; end $$`,
  `create trigger ${table}_counted after insert or delete or update of ${of} on ${table}
    for each row execute function count_${table}()`,
]

/**
 * The row of the counter is locked before the other files of a blob are looked for: two transactions that each remove one of the last
 * two files of a blob go on one after the other, and each statement sees what was committed before it.
 */
const onPostgres = [
  ...counted.flatMap(({ table, name, of, value }) =>
    triggerOn(
      table,
      of,
      `if tg_op = 'INSERT' then ${add('new', name, value('new'))}
       elsif tg_op = 'DELETE' then ${add('old', name, `-${value('old')}`)}
       elsif ${value('new')} <> ${value('old')} then
         ${add('new', name, `${value('new')} - ${value('old')}`)}
       end if;`,
    ),
  ),
  ...triggerOn(
    'files',
    'blob_key',
    `if tg_op = 'INSERT' then
       if new.blob_key is not null then
         ${add('new', 'stored_bytes', '0')}
         if not ${isOther('new')} then ${add('new', 'stored_bytes', 'new.size_bytes')} end if;
       end if;
     elsif old.blob_key is not null and (tg_op = 'DELETE' or new.blob_key is null) then
       ${add('old', 'stored_bytes', '0')}
       if not ${isOther('old')} then ${add('old', 'stored_bytes', '-old.size_bytes')} end if;
     end if;`,
  ),
]

const sums = [
  ...counted.map(
    ({ table, name, value }) =>
      `select tenant_id, '${name}' as name, sum(${value('r')}) as used from ${table} as r group by tenant_id`,
  ),
  `select tenant_id, 'stored_bytes' as name, sum(bytes) as used from (
    select tenant_id, max(size_bytes) as bytes from files
    where blob_key is not null group by tenant_id, blob_key) as blobs group by tenant_id`,
].join(' union all ')

const presentUse = `insert into quota_use (tenant_id, name, period, used)
  select tenant_id, name, '', sum(used) from (${sums}) as parts group by tenant_id, name`

export async function up(db: Kysely<unknown>): Promise<void> {
  const triggers = dialectOf(db) === 'sqlite' ? onSqlite : onPostgres
  for (const statement of [...tables, ...triggers, presentUse]) await sql.raw(statement).execute(db)
}
