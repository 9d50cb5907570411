/** What is old enough to go, by kind. A condition is the same for the count, the search and the removal. */
import type { RetentionKind } from '@steward/protocol/rules.ts'
import { iso } from '@steward/base/time.ts'
import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { isSessionHeld, isWorkspaceHeld, unless } from '../../ground/database/holds.ts'

export type Cutoff = { tenant: string; beforeMs: number; isHeld?: boolean }

/** The most that a count counts. */
export const mostCounted = 10_000

const unheldOr = (isHeld: boolean | undefined, held: RawBuilder<boolean>) =>
  isHeld ? held : unless(held)

/** Sessions that rest. A row of before `changed_ms` was kept has 0 there, so its other times count too. */
export const dueSessions = (db: Reads, { tenant, beforeMs, isHeld }: Cutoff) =>
  db
    .selectFrom('sessions')
    .innerJoin('session_heads as head', (on) =>
      on
        .onRef('head.tenant_id', '=', 'sessions.tenant_id')
        .onRef('head.session_id', '=', 'sessions.id'),
    )
    .where('head.tenant_id', '=', tenant)
    .where('head.changed_ms', '<', beforeMs)
    .where('head.due', '=', 0)
    .where('head.status', 'not in', ['running', 'rescheduling', 'deleted'])
    .where(sql<boolean>`coalesce(head.idle_since_ms, 0) < ${beforeMs}`)
    .where('sessions.updated_at', '<', iso(beforeMs))
    .where('sessions.deleted_at', 'is', null)
    .where(unheldOr(isHeld, isSessionHeld('sessions.tenant_id', 'sessions.id')))

export const dueFiles = (
  db: Reads,
  origin: 'upload' | 'output',
  { tenant, beforeMs, isHeld }: Cutoff,
) =>
  db
    .selectFrom('files')
    .where('files.tenant_id', '=', tenant)
    .where('files.created_at', '<', iso(beforeMs))
    .where('files.origin', '=', origin)
    .where(unheldOr(isHeld, isSessionHeld('files.tenant_id', 'files.session_id')))

/** Versions other than what a memory holds now. */
export const dueVersions = (db: Reads, { tenant, beforeMs, isHeld }: Cutoff) =>
  db
    .selectFrom('memory_versions')
    .where('memory_versions.tenant_id', '=', tenant)
    .where('memory_versions.created_at', '<', iso(beforeMs))
    .where((eb) => {
      const live = eb
        .selectFrom('memories')
        .select('memories.id')
        .whereRef('memories.tenant_id', '=', 'memory_versions.tenant_id')
        .whereRef('memories.version_id', '=', 'memory_versions.id')
      return eb.not(eb.exists(live))
    })
    .where(
      unheldOr(isHeld, isSessionHeld('memory_versions.tenant_id', 'memory_versions.session_id')),
    )

export const dueWebhookDeliveries = (db: Reads, { tenant, beforeMs, isHeld }: Cutoff) =>
  db
    .selectFrom('webhook_deliveries')
    .where('webhook_deliveries.tenant_id', '=', tenant)
    .where('webhook_deliveries.ended_at', '<', iso(beforeMs))
    .where(unheldOr(isHeld, isWorkspaceHeld('webhook_deliveries.tenant_id')))

export const dueIntegrationDeliveries = (db: Reads, { tenant, beforeMs, isHeld }: Cutoff) =>
  db
    .selectFrom('integration_deliveries')
    .where('integration_deliveries.tenant_id', '=', tenant)
    .where('integration_deliveries.created_at', '<', iso(beforeMs))
    .where('integration_deliveries.due_ms', 'is', null)
    .where(unheldOr(isHeld, isWorkspaceHeld('integration_deliveries.tenant_id')))

type Countable = { limit(most: number): { execute(): Promise<readonly object[]> } }

const one = sql<number>`1`.as('one')

/** Ids are not loaded: only as many rows of one number as are counted. */
const countOf = async (rows: Countable): Promise<number> =>
  (await rows.limit(mostCounted).execute()).length

/** Counts up to `mostCounted`. */
export async function countDue(
  db: Reads | Queries,
  kind: RetentionKind,
  cutoff: Cutoff,
): Promise<number> {
  switch (kind) {
    case 'sessions':
      return countOf(dueSessions(db, cutoff).select(one))
    case 'files':
      return countOf(dueFiles(db, 'upload', cutoff).select(one))
    case 'outputs':
      return countOf(dueFiles(db, 'output', cutoff).select(one))
    case 'memory_versions':
      return countOf(dueVersions(db, cutoff).select(one))
    case 'deliveries': {
      const webhooks = await countOf(dueWebhookDeliveries(db, cutoff).select(one))
      const integrations = await countOf(dueIntegrationDeliveries(db, cutoff).select(one))
      return Math.min(mostCounted, webhooks + integrations)
    }
  }
}
