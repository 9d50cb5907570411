/**
 * Removes what is old enough, in units of a few rows: each looks again at what it removes, and writes the line of the
 * audit that proves it. After a crash the next run finds what is left.
 */
import { createHash, hash } from 'node:crypto'
import type { RetentionKind } from '@steward/protocol/rules.ts'
import { PlatformError } from '../../ground/core/errors.ts'
import type { Database, Queries, Reads } from '../../ground/database/database.ts'
import { lockHolds } from '../../ground/database/holds.ts'
import { forUpdate } from '../../ground/database/lock.ts'
import { removeFiles } from '../../resources/files/remove.ts'
import { fileStore } from '../../resources/files/store.ts'
import { getHeadForUpdate, readHead } from '../../sessions/log/head.ts'
import { sessionStore } from '../../sessions/rows/sessions.ts'
import { deleteSession } from '../../sessions/update.ts'
import { auditRemoval } from '../../tenants/audit/removal.ts'
import type { Cutoff } from './store.ts'
import {
  dueFiles,
  dueIntegrationDeliveries,
  dueSessions,
  dueVersions,
  dueWebhookDeliveries,
} from './store.ts'

/** A part of the work: what is removed of a kind in one run, for one workspace. */
export const atOnce: Record<RetentionKind, number> = {
  sessions: 20,
  files: 100,
  outputs: 100,
  memory_versions: 250,
  deliveries: 250,
}

const idsAtOnce = 1_000

export type RetentionWork = Cutoff & {
  database: Database
  /** The rule, as the line of the audit names it. */
  days: number
  now: () => number
  /** True: the process stops. */
  isOver: () => boolean
}

/** Removes a part. Returns true when nothing is left that is old enough. */
export async function removeDue(kind: RetentionKind, work: RetentionWork): Promise<boolean> {
  switch (kind) {
    case 'sessions':
      return removeSessions(work)
    case 'files':
      return removeFilesOf(work, 'upload')
    case 'outputs':
      return removeFilesOf(work, 'output')
    case 'memory_versions':
      return removeVersions(work)
    case 'deliveries':
      return (await removeWebhookDeliveries(work)) && (await removeIntegrationDeliveries(work))
  }
}

const ruleOf = (kind: RetentionKind, { days }: RetentionWork) => ({ rule: kind, days })

async function removeSessions(work: RetentionWork): Promise<boolean> {
  const { database, isOver } = work
  const due = await dueSessions(database.read, work)
    .select('sessions.id')
    .orderBy('head.changed_ms')
    .limit(atOnce.sessions)
    .execute()
  for (const { id } of due) {
    if (isOver()) return true
    await removeSession(work, id)
  }
  return due.length < atOnce.sessions
}

/** The log is read before the unit: it may be long. A session with more events by then is no longer old. */
async function removeSession(work: RetentionWork, id: string): Promise<void> {
  const { database, tenant } = work
  const { next_seq: end } = await readHead(database.read, tenant, id)
  const events = await digestOfLog(database.read, tenant, id)
  const unit = async (tx: Queries) => {
    await lockHolds(tx)
    await sessionStore(tx).getForUpdate(tenant, id)
    const head = await getHeadForUpdate(tx, tenant, id)
    const still = await dueSessions(tx, work)
      .select(['sessions.id', 'sessions.created_at', 'sessions.agent_id'])
      .where('sessions.id', '=', id)
      .executeTakeFirst()
    if (!still || head.next_seq !== end) return
    const files = await fileStore(tx).allOfSession(tenant, id)
    const bytes = files.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
    await deleteSession(tx, tenant, id, work.now())
    const { created_at, agent_id } = still
    const { count, sha256 } = events
    const ofFiles = { files: files.length, file_bytes: bytes }
    const facts = { ...ruleOf('sessions', work), created_at, agent_id, ...ofFiles }
    await auditRemoval(
      tx,
      tenant,
      {
        action: 'retention.remove',
        type: 'session',
        id,
        facts: { ...facts, events: count, events_sha256: sha256 },
      },
      work.now(),
    )
  }
  await database.write(unit).catch((error: unknown) => {
    // It was deleted, or a turn began: it is looked at again, if it is still there.
    if (!(error instanceof PlatformError)) throw error
  })
}

/** The number of events, and a digest of their ids in order. */
async function digestOfLog(db: Reads, tenant: string, session: string) {
  const digest = createHash('sha256')
  let [count, after] = [0, -1]
  for (let isMore = true; isMore;) {
    const rows = await db
      .selectFrom('events')
      .select(['seq', 'id'])
      .where('tenant_id', '=', tenant)
      .where('session_id', '=', session)
      .where('seq', '>', after)
      .orderBy('seq')
      .limit(idsAtOnce)
      .execute()
    for (const { id } of rows) digest.update(`${id}\n`)
    count += rows.length
    after = rows.at(-1)?.seq ?? after
    isMore = rows.length === idsAtOnce
  }
  return { count, sha256: digest.digest('hex') }
}

async function removeFilesOf(work: RetentionWork, origin: 'upload' | 'output'): Promise<boolean> {
  const { database, tenant, now } = work
  const kind = origin === 'upload' ? 'files' : 'outputs'
  const some = (db: Reads) => dueFiles(db, origin, work).orderBy('files.created_at')
  if (!(await some(database.read).select('files.id').limit(1).executeTakeFirst())) return true
  return database.write(async (tx) => {
    await lockHolds(tx)
    const due = await forUpdate(tx, some(tx).selectAll('files').limit(atOnce[kind])).execute()
    await removeFiles(tx, tenant, due, now())
    for (const { id, session_id, size_bytes, sha256, created_at } of due) {
      const facts = { ...ruleOf(kind, work), session_id, size_bytes, sha256, created_at }
      const line = { action: 'retention.remove', type: 'file', id, facts } as const
      await auditRemoval(tx, tenant, line, now())
    }
    return due.length < atOnce[kind]
  })
}

type RemovedRow = { id: string; created_at: string; bytes?: number | null }

/** One line for all rows of the unit: their number, their times, and a digest of their ids in order. */
async function tellRows(
  tx: Queries,
  work: RetentionWork,
  of: { kind: RetentionKind; type: string },
  gone: readonly RemovedRow[],
): Promise<void> {
  if (gone.length === 0) return
  const rows = gone.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const times = rows.map(({ created_at }) => created_at).toSorted()
  const facts = {
    ...ruleOf(of.kind, work),
    count: rows.length,
    bytes: rows.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0),
    first_created_at: times[0],
    last_created_at: times.at(-1),
    ids_sha256: hash('sha256', rows.map(({ id }) => `${id}\n`).join('')),
  }
  const line = { action: 'retention.remove', type: of.type, id: null, facts } as const
  await auditRemoval(tx, work.tenant, line, work.now())
}

type Removal = {
  kind: 'memory_versions' | 'deliveries'
  type: string
  isAny: (db: Reads) => Promise<unknown>
  remove: (tx: Queries) => Promise<RemovedRow[]>
}

/** Returns true when nothing is left. */
async function removeRows(
  work: RetentionWork,
  { kind, type, isAny, remove }: Removal,
): Promise<boolean> {
  if (!(await isAny(work.database.read))) return true
  return work.database.write(async (tx) => {
    await lockHolds(tx)
    const gone = await remove(tx)
    await tellRows(tx, work, { kind, type }, gone)
    return gone.length < atOnce[kind]
  })
}

function removeVersions(work: RetentionWork): Promise<boolean> {
  const some = (db: Reads) => dueVersions(db, work).select('memory_versions.id')
  return removeRows(work, {
    kind: 'memory_versions',
    type: 'memory_version',
    isAny: (db) => some(db).limit(1).executeTakeFirst(),
    remove: (tx) => {
      const oldest = some(tx).orderBy('memory_versions.created_at')
      return tx
        .deleteFrom('memory_versions')
        .where('tenant_id', '=', work.tenant)
        .where('id', 'in', oldest.limit(atOnce.memory_versions))
        .returning(['id', 'created_at', 'size as bytes'])
        .execute()
    },
  })
}

function removeWebhookDeliveries(work: RetentionWork): Promise<boolean> {
  const some = (db: Reads) => dueWebhookDeliveries(db, work).select('webhook_deliveries.id')
  return removeRows(work, {
    kind: 'deliveries',
    type: 'webhook_delivery',
    isAny: (db) => some(db).limit(1).executeTakeFirst(),
    remove: (tx) =>
      tx
        .deleteFrom('webhook_deliveries')
        .where('tenant_id', '=', work.tenant)
        .where('id', 'in', some(tx).limit(atOnce.deliveries))
        .returning(['id', 'created_at'])
        .execute(),
  })
}

function removeIntegrationDeliveries(work: RetentionWork): Promise<boolean> {
  const some = (db: Reads) => dueIntegrationDeliveries(db, work).select('integration_deliveries.id')
  return removeRows(work, {
    kind: 'deliveries',
    type: 'integration_delivery',
    isAny: (db) => some(db).limit(1).executeTakeFirst(),
    remove: (tx) =>
      tx
        .deleteFrom('integration_deliveries')
        .where('tenant_id', '=', work.tenant)
        .where('id', 'in', some(tx).limit(atOnce.deliveries))
        .returning(['id', 'created_at'])
        .execute(),
  })
}
