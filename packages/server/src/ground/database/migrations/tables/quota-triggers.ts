import type { DialectName } from '../../dialect.ts'

type RowTerm = (row: string) => string
/** A table whose rows count towards a quota: the value of a row, and the columns on which the value depends. */
type CountedTable = { table: string; quota: string; columns: string; value: RowTerm }

const whileOpen =
  (condition: RowTerm): RowTerm =>
  (row) =>
    `(case when ${condition(row)} then 1 else 0 end)`

const openAgents: CountedTable = {
  table: 'agents',
  quota: 'agents',
  columns: 'archived_at',
  value: whileOpen((row) => `${row}.archived_at is null`),
}
const openMemoryStores: CountedTable = {
  table: 'memory_stores',
  quota: 'memory_stores',
  columns: 'archived_at, deleted_at',
  value: whileOpen((row) => `${row}.archived_at is null and ${row}.deleted_at is null`),
}
const storedVersions: CountedTable = {
  table: 'skill_versions',
  quota: 'stored_bytes',
  columns: 'size_bytes',
  value: (row) => `${row}.size_bytes`,
}
const storedMemories: CountedTable = {
  table: 'memories',
  quota: 'stored_bytes',
  columns: 'size',
  value: (row) => `${row}.size`,
}

const add = (row: string, quota: string, delta: string) =>
  `insert into quota_use (tenant_id, name, period, used) values (${row}.tenant_id, '${quota}', '', ${delta})
    on conflict (tenant_id, name, period) do update set used = quota_use.used + excluded.used;`

/** Several files may have one blob, which counts once: when its first file comes, and until its last one goes. */
const hasOtherFile: RowTerm = (row) =>
  `exists (select 1 from files as f where f.tenant_id = ${row}.tenant_id
    and f.blob_key = ${row}.blob_key and f.id <> ${row}.id)`

const onSqlite = [
  ...[openAgents, openMemoryStores, storedVersions, storedMemories].flatMap(
    ({ table, quota, columns, value }) => [
      `create trigger ${table}_counted_in after insert on ${table}
        begin ${add('new', quota, value('new'))} end`,
      `create trigger ${table}_counted_up after update of ${columns} on ${table}
        when ${value('new')} <> ${value('old')}
        begin ${add('new', quota, `${value('new')} - ${value('old')}`)} end`,
      `create trigger ${table}_counted_out after delete on ${table}
        begin ${add('old', quota, `-${value('old')}`)} end`,
    ],
  ),
  `create trigger files_counted_in after insert on files
    when new.blob_key is not null and not ${hasOtherFile('new')}
    begin ${add('new', 'stored_bytes', 'new.size_bytes')} end`,
  `create trigger files_counted_up after update of blob_key on files
    when old.blob_key is not null and new.blob_key is null and not ${hasOtherFile('old')}
    begin ${add('old', 'stored_bytes', '-old.size_bytes')} end`,
  `create trigger files_counted_out after delete on files
    when old.blob_key is not null and not ${hasOtherFile('old')}
    begin ${add('old', 'stored_bytes', '-old.size_bytes')} end`,
]

const triggerOn = (table: string, columns: string, body: string) => [
  `create function count_${table}() returns trigger language plpgsql as $$ begin ${body} return null; end $$`,
  `create trigger ${table}_counted after insert or delete or update of ${columns} on ${table}
    for each row execute function count_${table}()`,
]

const onChange = (
  { table, columns, value }: CountedTable,
  addTo: (row: string, delta: string) => string,
) =>
  triggerOn(
    table,
    columns,
    `if tg_op = 'INSERT' then ${addTo('new', value('new'))}
     elsif tg_op = 'DELETE' then ${addTo('old', `-${value('old')}`)}
     elsif ${value('new')} <> ${value('old')} then
       ${addTo('new', `${value('new')} - ${value('old')}`)}
     end if;`,
  )

/**
 * A transaction in a few hundred adds the changes that were committed up to it to their counter, unless another
 * transaction has the counter at this moment. Whoever holds the counter's row alone removes changes, so that none is
 * added twice. SQLite has one writer: there, nobody waits for a counter.
 */
const countChange = `create function count_change(tenant text, counter text, delta bigint) returns void
  language plpgsql as $$
  declare tx_now bigint := pg_current_xact_id()::text::bigint;
  begin
    insert into quota_changes (tenant_id, name, tx, added) values (tenant, counter, tx_now, delta)
      on conflict (tenant_id, name, tx) do update set added = quota_changes.added + excluded.added;
    if tx_now % 256 <> 0 then return; end if;
    insert into quota_use (tenant_id, name, period, used) values (tenant, counter, '', 0)
      on conflict do nothing;
    perform 1 from quota_use
      where tenant_id = tenant and name = counter and period = '' for update skip locked;
    if not found then return; end if;
    with counted as (
      delete from quota_changes where tenant_id = tenant and name = counter returning added)
    update quota_use set used = used + (select coalesce(sum(added), 0) from counted)
      where tenant_id = tenant and name = counter and period = '';
  end $$`

/**
 * The row of the counter is locked before the other files of a blob are looked for: two transactions that each remove
 * one of the last two files of a blob go on one after the other, and each statement sees what was committed before it.
 */
const filesOnPostgres = triggerOn(
  'files',
  'blob_key',
  `if tg_op = 'INSERT' then
     if new.blob_key is not null then
       ${add('new', 'stored_bytes', '0')}
       if not ${hasOtherFile('new')} then ${add('new', 'stored_bytes', 'new.size_bytes')} end if;
     end if;
   elsif old.blob_key is not null and (tg_op = 'DELETE' or new.blob_key is null) then
     ${add('old', 'stored_bytes', '0')}
     if not ${hasOtherFile('old')} then ${add('old', 'stored_bytes', '-old.size_bytes')} end if;
   end if;`,
)

const onPostgres = [
  countChange,
  ...[openAgents, openMemoryStores].flatMap((counted) =>
    onChange(
      counted,
      (row, delta) => `perform count_change(${row}.tenant_id, '${counted.quota}', ${delta});`,
    ),
  ),
  ...[storedVersions, storedMemories].flatMap((counted) =>
    onChange(counted, (row, delta) => add(row, counted.quota, delta)),
  ),
  ...filesOnPostgres,
]

/** Count what a workspace stores and holds, in the transaction that changes it. */
export const quotaTriggers: Readonly<Record<DialectName, readonly string[]>> = {
  sqlite: onSqlite,
  postgres: onPostgres,
}
