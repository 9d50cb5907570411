import { sql } from 'kysely'
import type { Listing, Paging } from '../core/page.ts'
import { notFound } from '../core/errors.ts'
import { iso } from '../core/time.ts'
import type { Queries } from '../database/database.ts'
import { readPage, weightOf } from '../database/listing.ts'
import { holding, skipping, taking } from '../database/lock.ts'
import type { Tables } from '../database/tables.ts'
import type { Change, Item } from './item.ts'
import { leaseMs } from './item.ts'

/** As the indexes have them: SQLite finds a partial index only by its own words. */
const is = {
  live: sql<boolean>`state <> 'stopped'`,
  held: sql<boolean>`state in ('starting', 'active')`,
  reserved: sql<boolean>`state = 'queued' and reserved_ms is not null`,
  waiting: sql<boolean>`state = 'queued' and reserved_ms is null`,
  stopping: sql<boolean>`state = 'stopping'`,
  unwarned: sql<boolean>`state in ('queued', 'starting', 'active') and warned = 0`,
  stopped: sql<boolean>`state = 'stopped'`,
}
/** When somebody should have taken it up, or shown that it still has it. */
const expected = sql<number>`coalesce(lease_ms, reserved_ms, due_ms)`
/** Beyond every lease, and every pause before work is to be had again. */
const furthestMs = 10 * 60 * 1000
/** How long an item stays reserved at least. */
const reclaimMsOf = (tenant: unknown, environment: unknown) =>
  sql<number>`coalesce((select e.reclaim_ms from environments as e
    where e.tenant_id = ${tenant} and e.id = ${environment}), 0)`
/** How long a worker that asked counts as one that asks. contract.md 1.12 */
const presentMs = 30_000

const rowsAtOnce = 500

export type Seen = Pick<Tables['work_pollers'], 'environment_id' | 'worker_id' | 'seen_ms'>

export function workStore(db: Queries) {
  const ofEnvironment = (tenant: string, environment: string) =>
    db
      .selectFrom('work')
      .selectAll()
      .where('tenant_id', '=', tenant)
      .where('environment_id', '=', environment)
  const byId = (tenant: string, environment: string, id: string) =>
    ofEnvironment(tenant, environment).where('id', '=', id)

  /** Those that are anyone's to have: what others left behind, then what waits, the oldest first. */
  const free = (tenant: string, environment: string, now: number, reclaimMs: number) => {
    const own = db
      .selectFrom('work')
      .select('id')
      .where('tenant_id', '=', tenant)
      .where('environment_id', '=', environment)
      .limit(1)
    return [
      own.where(is.held).where('lease_ms', '<=', now).orderBy('lease_ms'),
      own
        .where(is.reserved)
        .where('reserved_ms', '<=', now - reclaimMs)
        .where('reserved_ms', '<=', sql<number>`${now} - ${reclaimMsOf(tenant, environment)}`)
        .orderBy('reserved_ms'),
      own.where(is.waiting).where('due_ms', '<=', now).orderBy('due_ms').orderBy('id'),
    ] as const
  }

  async function row(found: Promise<Item | undefined>, id: string): Promise<Item> {
    const item = await found
    if (!item) throw notFound('work', id)
    return item
  }

  return {
    row: (tenant: string, environment: string, id: string): Promise<Item> =>
      row(byId(tenant, environment, id).executeTakeFirst(), id),

    /** As `row`, and nobody else changes it until the transaction ends. */
    take: (tenant: string, environment: string, id: string): Promise<Item> =>
      row(taking(db, byId(tenant, environment, id)).executeTakeFirst(), id),

    /** As `find`, and it stays as it is until the transaction ends. */
    hold: (tenant: string, environment: string, id: string): Promise<Item | undefined> =>
      holding(db, byId(tenant, environment, id)).executeTakeFirst(),

    /** For whoever asks what a token names: absent is an answer. */
    find: (tenant: string, environment: string, id: string): Promise<Item | undefined> =>
      byId(tenant, environment, id).executeTakeFirst(),

    /**
     * Changes one that is to be had, and that nobody else is taking at the moment, to its next generation: one statement.
     * One that another has let go is an attempt further.
     */
    claim: (
      tenant: string,
      environment: string,
      { now, reclaimMs }: { now: number; reclaimMs: number },
      change: Change,
    ): Promise<Item | undefined> =>
      db
        .updateTable('work')
        .set((eb) => ({
          ...change,
          generation: eb('generation', '+', 1),
          attempts: eb
            .case()
            .when(is.waiting)
            .then(eb.ref('attempts'))
            .else(eb('attempts', '+', 1))
            .end(),
        }))
        .where('tenant_id', '=', tenant)
        .where('id', '=', (eb) => {
          const [held, reserved, waiting] = free(tenant, environment, now, reclaimMs)
          return eb.fn.coalesce(skipping(db, held), skipping(db, reserved), skipping(db, waiting))
        })
        .returningAll()
        .executeTakeFirst(),

    /** The session's item that has not stopped: there is one at most. Nobody else changes it until the transaction ends. */
    takeLive: (tenant: string, session: string): Promise<Item | undefined> =>
      taking(
        db,
        db
          .selectFrom('work')
          .selectAll()
          .where('tenant_id', '=', tenant)
          .where('session_id', '=', session)
          .where(is.live),
      ).executeTakeFirst(),

    async insert(item: Item): Promise<void> {
      await db.insertInto('work').values(item).execute()
    },

    async change({ tenant_id, id }: Item, change: Change): Promise<void> {
      if (Object.keys(change).length === 0) return
      await db
        .updateTable('work')
        .set(change)
        .where('tenant_id', '=', tenant_id)
        .where('id', '=', id)
        .execute()
    },

    /** As `change`, in one statement, unless somebody has changed it since it was read; whether it was written. */
    async replace(item: Item, change: Change): Promise<boolean> {
      if (Object.keys(change).length === 0) return true
      const { numUpdatedRows } = await db
        .updateTable('work')
        .set(change)
        .where('tenant_id', '=', item.tenant_id)
        .where('id', '=', item.id)
        .where('state', '=', item.state)
        .where('generation', '=', item.generation)
        .where('reserved_ms', 'is not distinct from', item.reserved_ms)
        .where('lease_ms', 'is not distinct from', item.lease_ms)
        .where('heartbeat', 'is not distinct from', item.heartbeat)
        .executeTakeFirstOrThrow()
      return numUpdatedRows > 0n
    },

    list: (tenant: string, environment: string, paging: Paging): Promise<Listing<Item>> =>
      readPage(tenant, ofEnvironment(tenant, environment), paging, weightOf('metadata')),

    /** Of all tenants: asked to end, or left by their workers, longer ago than their lease. */
    overdue: (now: number, limit: number): Promise<Item[]> =>
      db
        .selectFrom('work')
        .selectAll()
        .where(is.stopping)
        .where('lease_ms', '<=', now)
        .limit(limit)
        .execute(),

    /** Of all tenants: due, or left by its worker, for longer than that, taken by nobody, and not told yet. */
    unclaimed: (before: number, limit: number): Promise<Item[]> =>
      db
        .selectFrom('work')
        .selectAll()
        .where(is.unwarned)
        .where(expected, '<=', before)
        .where(
          sql<boolean>`(lease_ms is not null or reserved_ms is null
            or reserved_ms <= ${before} - ${reclaimMsOf(sql.ref('work.tenant_id'), sql.ref('work.environment_id'))})`,
        )
        .limit(limit)
        .execute(),

    /** Of all tenants: what lies further ahead than anything is set counts from now, as the clock was set back. */
    async bringBack(now: number): Promise<void> {
      const past = now + furthestMs
      const sooner = (column: 'due_ms' | 'reserved_ms') =>
        sql<number>`case when ${sql.ref(column)} > ${now} then ${now} else ${sql.ref(column)} end`
      await db
        .updateTable('work')
        .set({ due_ms: sooner('due_ms'), reserved_ms: sooner('reserved_ms') })
        .where(is.unwarned)
        .where(expected, '>', past)
        .where('lease_ms', 'is', null)
        .execute()
      for (const held of [is.unwarned, is.stopping])
        await db
          .updateTable('work')
          .set({ lease_ms: now + leaseMs })
          .where(held)
          .where(expected, '>', past)
          .where('lease_ms', '>', past)
          .execute()
    },

    /** These workers asked at these times. */
    async seen(tenant: string, workers: readonly Seen[]): Promise<void> {
      for (let at = 0; at < workers.length; at += rowsAtOnce) {
        const rows = workers.slice(at, at + rowsAtOnce)
        await db
          .insertInto('work_pollers')
          .values(rows.map((row) => ({ tenant_id: tenant, ...row })))
          .onConflict((conflict) =>
            conflict
              .columns(['tenant_id', 'environment_id', 'worker_id'])
              .doUpdateSet((eb) => ({ seen_ms: eb.ref('excluded.seen_ms') })),
          )
          .execute()
      }
    },

    /** Of all tenants: ended before that; so many at most. Whether that was all. */
    async forgetStopped(before: number, limit: number): Promise<boolean> {
      const old = await db
        .selectFrom('work')
        .select(['tenant_id', 'id'])
        .where(is.stopped)
        .where('stopped_at', '<', iso(before))
        .limit(limit)
        .execute()
      for (const { tenant_id, id } of old)
        await db
          .deleteFrom('work')
          .where('tenant_id', '=', tenant_id)
          .where('id', '=', id)
          .execute()
      return old.length < limit
    },

    async forgetPollers(before: number): Promise<void> {
      await db.deleteFrom('work_pollers').where('seen_ms', '<', before).execute()
    },

    async stats(tenant: string, environment: string, now: number) {
      const queued = await db
        .selectFrom('work')
        .select((eb) => [
          eb.fn.countAll<string | number>().as('all'),
          eb.fn.count<string | number>('reserved_ms').as('pending'),
        ])
        .where('tenant_id', '=', tenant)
        .where('environment_id', '=', environment)
        .where('state', '=', 'queued')
        .executeTakeFirstOrThrow()
      const oldest = await ofEnvironment(tenant, environment)
        .where(is.waiting)
        .orderBy('due_ms')
        .limit(1)
        .executeTakeFirst()
      const workers = await db
        .selectFrom('work_pollers')
        .select((eb) => eb.fn.countAll<string | number>().as('polling'))
        .where('tenant_id', '=', tenant)
        .where('environment_id', '=', environment)
        .where('seen_ms', '>', now - presentMs)
        .executeTakeFirstOrThrow()
      const pending = Number(queued.pending)
      return {
        type: 'work_queue_stats' as const,
        depth: Number(queued.all) - pending,
        pending,
        oldest_queued_at: oldest
          ? iso(Math.max(oldest.due_ms, Date.parse(oldest.created_at)))
          : null,
        workers_polling: Number(workers.polling),
      }
    },
  }
}
