import type { Kysely } from 'kysely'
import { sql } from 'kysely'

/** What the first request made, for whoever repeats it. */
export const up = async (db: Kysely<unknown>): Promise<void> =>
  void (await sql.raw('alter table idempotency_keys add column made_id text').execute(db))
