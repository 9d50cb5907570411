import type { Kysely } from 'kysely'
import { sql } from 'kysely'

/** What has woken the agents of external threads without a request of a person. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter table integration_threads add column wakes text').execute(db)
}
