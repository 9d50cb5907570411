import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import { dialectOf } from '../dialect.ts'

const columns = [
  'list_cost bigint not null default 0',
  'unpriced integer not null default 0',
  'model_requests bigint not null default 0',
  'counted_hour bigint',
  'counted_model text',
  'counted_price text',
  'budget bigint',
  'budget_told integer not null default 0',
  'halted integer not null default 0',
]

/** Keyed from the hour on: a report reads a range of hours of one workspace. */
const usage = `create table usage_hours (
  tenant_id text not null, hour_ms bigint not null, session_id text not null, model text not null,
  price text not null, agent_id text not null, requests bigint not null, input_tokens bigint not null,
  output_tokens bigint not null, cache_read_input_tokens bigint not null,
  cache_creation_input_tokens bigint not null, list_cost bigint not null,
  constraint usage_hours_key primary key (tenant_id, hour_ms, session_id, model, price))`

const counted = [
  ['requests', 'model_requests'],
  ...['input_tokens', 'output_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'],
  'list_cost',
].map((each) => (typeof each === 'string' ? [each, each] : each))

/** The growth of the counters, added to the hour's row. */
const addition = `insert into usage_hours as u (tenant_id, hour_ms, session_id, model, price, agent_id,
    ${counted.map(([name]) => name).join(', ')})
  select new.tenant_id, new.counted_hour, new.session_id, new.counted_model, new.counted_price, s.agent_id,
    ${counted.map(([, column]) => `new.${column} - old.${column}`).join(', ')}
  from sessions s where s.tenant_id = new.tenant_id and s.id = new.session_id
  on conflict (tenant_id, hour_ms, session_id, model, price) do update set
    ${counted.map(([name]) => `${name} = u.${name} + excluded.${name}`).join(', ')};`

/** Both databases run it for each update that names `counted_hour`, also where its value stays. */
const ofHeads = 'after update of counted_hour on session_heads for each row'

const triggers = {
  sqlite: [`create trigger usage_counted ${ofHeads} begin ${addition} end`],
  postgres: [
    `create or replace function count_usage() returns trigger language plpgsql as $$ begin ${addition} return null; end $$`,
    `create trigger usage_counted ${ofHeads} execute function count_usage()`,
  ],
}

export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    ...columns.map((column) => `alter table session_heads add column ${column}`),
    // What was used before prices were known stays without a price.
    `update session_heads set unpriced = 1
      where input_tokens + output_tokens + cache_read_input_tokens + cache_creation_input_tokens > 0`,
    usage,
    ...triggers[dialectOf(db)],
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}
