import type { Kysely } from 'kysely'
import { sql } from 'kysely'

/** Lists of the forks of a session read it: few sessions are forks. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index sessions_forked on sessions (tenant_id) where forked_from is not null`.execute(
    db,
  )
}
