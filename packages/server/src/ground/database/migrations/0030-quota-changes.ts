import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import { dialectOf } from '../dialect.ts'

const table = `create table quota_changes (
  tenant_id text not null, name text not null, tx bigint not null, added bigint not null,
  constraint quota_changes_key primary key (tenant_id, name, tx))`

/**
 * A transaction in a few hundred adds the changes that were committed up to it to their counter, unless another transaction has the
 * counter at this moment. Whoever holds the counter's row alone removes changes, so that none is added twice.
 */
const count = `create function count_change(tenant text, counter text, delta bigint) returns void
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

const triggerOn = (name: string, isCounted: (row: string) => string) => {
  const of = (row: string) => `(case when ${isCounted(row)} then 1 else 0 end)`
  return `create or replace function count_${name}() returns trigger language plpgsql as $$ begin
    if tg_op = 'INSERT' then perform count_change(new.tenant_id, '${name}', ${of('new')});
    elsif tg_op = 'DELETE' then perform count_change(old.tenant_id, '${name}', -${of('old')});
    elsif ${of('new')} <> ${of('old')} then
      perform count_change(new.tenant_id, '${name}', ${of('new')} - ${of('old')});
    end if;
    return null; end $$`
}

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(table).execute(db)
  // SQLite has one writer: nobody waits for a counter.
  if (dialectOf(db) === 'sqlite') return
  const functions = [
    count,
    triggerOn('agents', (row) => `${row}.archived_at is null`),
    triggerOn('memory_stores', (row) => `${row}.archived_at is null and ${row}.deleted_at is null`),
  ]
  for (const statement of functions) await sql.raw(statement).execute(db)
}
