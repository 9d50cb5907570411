import type { Kysely } from 'kysely'
import { sql } from 'kysely'

/** Sessions with MCP servers by URL: the first model request of a turn waits for them, and is recorded after that. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('session_heads')
    .addColumn('url_servers', 'integer', (c) => c.notNull().defaultTo(0))
    .execute()
  // A quote within a text of the agent is escaped there, so that this is the field itself.
  const some = `%"mcp_servers":[{%`
  await sql`update session_heads set url_servers = 1
    where session_id in (select id from sessions where agent like ${some})`.execute(db)
}
