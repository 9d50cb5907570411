import type { Paging } from '../core/page.ts'
import { notFound } from '../core/errors.ts'
import { iso } from '../core/time.ts'
import type { Queries } from '../database/database.ts'
import { holding, skipping, taking } from '../database/lock.ts'
import { seek } from '../database/seek.ts'
import type { Change, Item } from './item.ts'

const live = ['queued', 'starting', 'active', 'stopping'] as const
/** How long a worker that asked counts as one that asks. contract.md 1.12 */
const presentMs = 30_000

export function workStore(db: Queries) {
  const ofEnvironment = (tenant: string, environment: string) =>
    db
      .selectFrom('work')
      .selectAll()
      .where('tenant_id', '=', tenant)
      .where('environment_id', '=', environment)
  const byId = (tenant: string, environment: string, id: string) =>
    ofEnvironment(tenant, environment).where('id', '=', id)

  /** Those that are anyone's to have, the oldest first; see `isFree`. */
  const free = (tenant: string, environment: string, now: number, reclaimMs: number) =>
    ofEnvironment(tenant, environment)
      .where((eb) =>
        eb.or([
          eb.and([
            eb('state', '=', 'queued'),
            eb('due_ms', '<=', now),
            eb.or([eb('reserved_ms', 'is', null), eb('reserved_ms', '<=', now - reclaimMs)]),
          ]),
          eb.and([eb('state', 'in', ['starting', 'active']), eb('lease_ms', '<=', now)]),
        ]),
      )
      .orderBy('id')
      .limit(1)

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

    /** Whether there is one to have. */
    async hasFree(tenant: string, environment: string, now: number, reclaimMs: number) {
      const found = await free(tenant, environment, now, reclaimMs).executeTakeFirst()
      return found !== undefined
    },

    /** One to have that nobody else is taking at the moment. */
    takeFree: (
      tenant: string,
      environment: string,
      now: number,
      reclaimMs: number,
    ): Promise<Item | undefined> =>
      skipping(db, free(tenant, environment, now, reclaimMs)).executeTakeFirst(),

    /** The session's item that has not stopped: there is one at most. Nobody else changes it until the transaction ends. */
    takeLive: (tenant: string, session: string): Promise<Item | undefined> =>
      taking(
        db,
        db
          .selectFrom('work')
          .selectAll()
          .where('tenant_id', '=', tenant)
          .where('session_id', '=', session)
          .where('state', 'in', live),
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

    list: (tenant: string, environment: string, paging: Paging): Promise<Item[]> => {
      const { begins, way } = seek(paging)
      return ofEnvironment(tenant, environment)
        .where(begins)
        .orderBy('created_at', way)
        .orderBy('id', way)
        .limit(paging.limit + 1)
        .execute()
    },

    /** Of all tenants: asked to end, or left by their workers, longer ago than their lease. */
    overdue: (now: number, limit: number): Promise<Item[]> =>
      db
        .selectFrom('work')
        .selectAll()
        .where('state', '=', 'stopping')
        .where('lease_ms', '<=', now)
        .limit(limit)
        .execute(),

    /** Of all tenants: due for longer than that, taken by nobody, and not told yet. */
    unclaimed: (before: number, limit: number): Promise<Item[]> =>
      db
        .selectFrom('work')
        .selectAll()
        .where('state', '=', 'queued')
        .where('due_ms', '<=', before)
        .where('reserved_ms', 'is', null)
        .where('warned', '=', 0)
        .limit(limit)
        .execute(),

    async seen(tenant: string, environment: string, worker: string, now: number): Promise<void> {
      const values = { tenant_id: tenant, environment_id: environment, worker_id: worker }
      await db
        .insertInto('work_pollers')
        .values({ ...values, seen_ms: now })
        .onConflict((conflict) =>
          conflict
            .columns(['tenant_id', 'environment_id', 'worker_id'])
            .doUpdateSet({ seen_ms: now }),
        )
        .execute()
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
        .where('state', '=', 'queued')
        .where('reserved_ms', 'is', null)
        .orderBy('id')
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
