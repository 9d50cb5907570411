import type { Kysely } from 'kysely'

/** Replays keep nothing of their own: what goes on live is a session. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.dropTable('replays').execute()
}
