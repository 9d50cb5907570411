/** Sessions with something to do that no living owner holds, found by tenant. */
import type { Database } from './database.ts'
import { isFree } from './lease.ts'

/** Who holds sessions and is certainly dead. */
export async function deadOwners({ read, owners }: Database): Promise<string[]> {
  const held = await read
    .selectFrom('session_heads')
    .select('owner')
    .distinct()
    .where('owner', 'is not', null)
    .execute()
  return owners.dead(held.flatMap(({ owner }) => owner ?? []))
}

type Now = { now: number; dead: readonly string[] }

const due = ({ read }: Database, { now, dead }: Now) =>
  read
    .selectFrom('session_heads')
    .where('due', '=', 1)
    .where(isFree('session_heads', now, dead))

/** The next tenant behind one, in the order of their ids, that has sessions to run. */
export async function nextTenantDue(
  database: Database,
  after: string,
  now: Now,
): Promise<string | undefined> {
  const row = await due(database, now)
    .select('tenant_id')
    .where('tenant_id', '>', after)
    .orderBy('tenant_id')
    .limit(1)
    .executeTakeFirst()
  return row?.tenant_id
}

/** The tenant's sessions to run, oldest first. */
export async function dueOf(
  database: Database,
  tenant: string,
  limit: number,
  now: Now,
): Promise<string[]> {
  const rows = await due(database, now)
    .select('session_id')
    .where('tenant_id', '=', tenant)
    .orderBy('session_id')
    .limit(limit)
    .execute()
  return rows.map(({ session_id }) => session_id)
}
