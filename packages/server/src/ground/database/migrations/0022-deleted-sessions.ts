import type { Kysely } from 'kysely'
import { sql } from 'kysely'

/** Deleted sessions by their age, for the job that removes their rows. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index sessions_deleted on sessions (deleted_at) where deleted_at is not null`.execute(
    db,
  )
}
