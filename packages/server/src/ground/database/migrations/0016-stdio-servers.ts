import type { Kysely } from 'kysely'
import { sql } from 'kysely'

/** What workers say of the stdio servers of sessions, and which sessions wait for that. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const at = 'text' as const
  await db.schema
    .createTable('stdio_reports')
    .addColumn('tenant_id', at, (c) => c.notNull())
    .addColumn('session_id', at, (c) => c.notNull())
    .addColumn('work_id', at, (c) => c.notNull())
    .addColumn('generation', 'integer', (c) => c.notNull())
    .addColumn('servers', at, (c) => c.notNull())
    .addPrimaryKeyConstraint('stdio_reports_key', ['tenant_id', 'session_id'])
    .execute()
  const heads = () => db.schema.alterTable('session_heads')
  await heads().addColumn('stdio_ms', 'bigint').execute()
  await heads()
    .addColumn('awaits_stdio', 'integer', (c) => c.notNull().defaultTo(0))
    .execute()
  const awaits = 'on session_heads (session_id) where awaits_stdio = 1'
  await sql`create index heads_awaiting ${sql.raw(awaits)}`.execute(db)
}
