/** The session of an external thread. */
import type { Reads } from '../../ground/database/database.ts'
import type { Head } from '../../sessions/log/head.ts'
import { readHead } from '../../sessions/log/head.ts'

/** Returns undefined when the session is deleted. An archived session still has a head. */
export async function headOfSession(
  read: Reads,
  tenant: string,
  session: string | null,
): Promise<Head | undefined> {
  if (session === null) return undefined
  const row = await read
    .selectFrom('sessions')
    .select(['archived_at', 'deleted_at'])
    .where('tenant_id', '=', tenant)
    .where('id', '=', session)
    .executeTakeFirst()
  if (!row || row.deleted_at !== null) return undefined
  const head = await readHead(read, tenant, session)
  if (head.status === 'deleted') return undefined
  return row.archived_at === null ? head : { ...head, status: 'done' }
}
