/** Finds, by tenant, sessions with pending work that no living process holds. */
import { sql } from 'kysely'
import type { Database } from './database.ts'
import { isFree } from './lease.ts'
import { selectRaw } from './select-raw.ts'

/** The owners of sessions that are certainly dead. */
export async function deadOwners({ read, owners }: Database): Promise<string[]> {
  const held = await read
    .selectFrom('session_heads')
    .select('owner')
    .distinct()
    .where('owner', 'is not', null)
    .execute()
  return owners.dead(held.flatMap(({ owner }) => owner ?? []))
}

type LeaseMoment = { now: number; dead: readonly string[] }

const due = ({ read }: Database, { now, dead }: LeaseMoment) =>
  read
    .selectFrom('session_heads')
    .where('due', '=', 1)
    .where(isFree('session_heads', now, dead))

/** The first tenant after `after`, in the order of ids, that has sessions to run. */
export async function nextTenantDue(
  database: Database,
  after: string,
  now: LeaseMoment,
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
export async function listDueSessions(
  database: Database,
  tenant: string,
  limit: number,
  now: LeaseMoment,
): Promise<string[]> {
  const rows = await due(database, now)
    .select('session_id')
    .where('tenant_id', '=', tenant)
    .orderBy('session_id')
    .limit(limit)
    .execute()
  return rows.map(({ session_id }) => session_id)
}

type FirstTimes = Record<
  | 'runs'
  | 'evals'
  | 'deployments'
  | 'dreams'
  | 'received'
  | 'wakeups'
  | 'told'
  | 'tokens'
  | 'lines'
  | 'uses'
  | 'changes'
  | 'secrets'
  | 'files'
  | 'deliveries'
  | 'blobs'
  | WorkTime,
  unknown
>
type WorkTime = 'awaited' | 'lapsing' | 'stopping'

const open = sql`state in ('queued', 'starting', 'active')`

/**
 * When a job has to look at the database next, in ms since the epoch. 0: now. Undefined: nothing waits for a time. Rows
 * that only wait for their removal by age do not count; see `Databases.walk`.
 */
export async function nextDueTime({ read }: Pick<Database, 'read'>): Promise<number | undefined> {
  const [row] = await selectRaw<FirstTimes>(
    read,
    sql`select
      (select min(0) from session_heads where due = 1 or owner is not null or awaits_stdio = 1) as runs,
      (select min(0) from eval_runs where status in ('queued', 'running', 'canceling')) as evals,
      (select min(due_ms) from deployments where due_ms is not null) as deployments,
      (select min(0) from dreams where stopped = 0) as dreams,
      (select min(due_ms) from wakeups) as wakeups,
      (select min(due_ms) from integration_deliveries where due_ms is not null) as received,
      (select min(due_ms) from integration_threads where due_ms is not null) as told,
      (select min(token_due_ms) from publications where token_due_ms is not null and status = 'live') as tokens,
      (select min(0) from audit_lines where seq is null) as lines,
      (select min(0) from credential_uses where seq is null) as uses,
      (select min(0) from credential_changes where seq is null) as changes,
      (select min(0) from secret_reads where seq is null) as secrets,
      (select min(due_ms) from webhook_deliveries where due_ms is not null) as deliveries,
      (select min(due_ms) from loose_blobs) as blobs,
      (select min(expires_at) from files where blob_key is not null) as files,
      (select min(coalesce(lease_ms, due_ms)) from work where ${open} and warned = 0) as awaited,
      (select min(coalesce(lease_ms, reserved_until_ms)) from work where ${open} and hinted = 0) as lapsing,
      (select min(lease_ms) from work where state = 'stopping') as stopping`,
  )
  const times = Object.values(row ?? {}).filter((time) => time !== null)
  if (times.length === 0) return undefined
  return Math.min(...times.map((at) => (typeof at === 'string' ? Date.parse(at) : Number(at))))
}
