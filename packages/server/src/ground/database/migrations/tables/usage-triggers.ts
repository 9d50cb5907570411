import type { DialectName } from '../../dialect.ts'

const counted = [
  ['requests', 'model_requests'],
  ...['input_tokens', 'output_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'],
  'list_cost',
].map((each) => (typeof each === 'string' ? [each, each] : each))

/**
 * The growth of the counters of a session, added to the row of the hour. Without an alias, so that the command
 * `sqlite3` of Debian 12 reads the schema.
 */
const addition = `insert into usage_hours (tenant_id, hour_ms, session_id, model, price, agent_id,
    ${counted.map(([name]) => name).join(', ')})
  select new.tenant_id, new.counted_hour, new.session_id, new.counted_model, new.counted_price, s.agent_id,
    ${counted.map(([, column]) => `new.${column} - old.${column}`).join(', ')}
  from sessions s where s.tenant_id = new.tenant_id and s.id = new.session_id
  on conflict (tenant_id, hour_ms, session_id, model, price) do update set
    ${counted.map(([name]) => `${name} = usage_hours.${name} + excluded.${name}`).join(', ')};`

/** Both databases run it for each update that names `counted_hour`, also where its value stays. */
const ofHeads = 'after update of counted_hour on session_heads for each row'

/** Counts the usage of each turn in the transaction that commits the turn. */
export const usageTriggers: Readonly<Record<DialectName, readonly string[]>> = {
  sqlite: [`create trigger usage_counted ${ofHeads} begin ${addition} end`],
  postgres: [
    `create function count_usage() returns trigger language plpgsql as $$ begin ${addition} return null; end $$`,
    `create trigger usage_counted ${ofHeads} execute function count_usage()`,
  ],
}
