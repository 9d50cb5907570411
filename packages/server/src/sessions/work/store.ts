import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Listing, Paging } from '../../ground/core/text/page.ts'
import { notFound } from '../../ground/core/errors.ts'
import { iso } from '@steward/base/time.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { defineStore } from '../../ground/database/store-of.ts'
import { isFree } from '../../ground/database/lease.ts'
import { readPage, rowWeight } from '../../ground/database/listing.ts'
import { forShare, forUpdateSkippingLocked, forUpdate } from '../../ground/database/lock.ts'
import type { Tables } from '../../ground/database/tables.ts'
import type { ClaimOptions } from './claimable.ts'
import { claimableItems, itemConditions, presentMs, selectReclaimMs } from './claimable.ts'
import type { ItemChange, WorkItem } from './item.ts'
import { claimLeaseMs } from './item.ts'

/** Since when an acknowledgement or a heartbeat is missing. */
const awaited = sql<number>`coalesce(lease_ms, due_ms)`
/** When the item can be claimed again if its worker does nothing. */
const lapses = sql<number>`coalesce(lease_ms, reserved_until_ms)`
/** Longer than every lease and every pause before an item is due again. */
const furthestMs = 10 * 60 * 1000
/** A poll may ask for a reservation without an end; this is the limit. */
const longestReservationMs = 10 ** 12

const rowsAtOnce = 500

export type PollerRow = Pick<Tables['work_pollers'], 'environment_id' | 'worker_id' | 'seen_ms'>

const ofEnvironment = (db: Reads, tenant: string, environment: string) =>
  db
    .selectFrom('work')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('environment_id', '=', environment)

const ofSession = (db: Reads, tenant: string, session: string) =>
  db
    .selectFrom('work')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', session)

const byId = (db: Reads, tenant: string, environment: string, id: string) =>
  ofEnvironment(db, tenant, environment).where('id', '=', id)

async function row(found: Promise<WorkItem | undefined>, id: string): Promise<WorkItem> {
  const item = await found
  if (!item) throw notFound('work', id)
  return item
}

function workReads(db: Reads) {
  return {
    row: (tenant: string, environment: string, id: string): Promise<WorkItem> =>
      row(byId(db, tenant, environment, id).executeTakeFirst(), id),

    /** Undefined instead of not_found when the item does not exist. */
    find: (tenant: string, environment: string, id: string): Promise<WorkItem | undefined> =>
      byId(db, tenant, environment, id).executeTakeFirst(),

    /** The session's item that has not stopped; a session has at most one. */
    live: (tenant: string, session: string): Promise<WorkItem | undefined> =>
      ofSession(db, tenant, session).where(itemConditions.live).executeTakeFirst(),

    /** A claimed session of the environment whose agent has the skill. */
    async claimedWithSkill(
      tenant: string,
      environment: string,
      skill: string,
      now: number,
    ): Promise<string | undefined> {
      // Searches the agent's JSON text, so that the agents of all claimed sessions need not be parsed.
      const named = `"skill_id":${JSON.stringify(skill)}`
      const row = await db
        .selectFrom('work')
        .innerJoin('sessions', (join) =>
          join
            .onRef('sessions.tenant_id', '=', 'work.tenant_id')
            .onRef('sessions.id', '=', 'work.session_id'),
        )
        .select('work.session_id')
        .where('work.tenant_id', '=', tenant)
        .where('work.environment_id', '=', environment)
        .where(sql<boolean>`work.state <> 'stopped'`)
        .where(sql<boolean>`(work.lease_ms > ${now}
          or work.state = 'queued' and work.reserved_ms is not null)`)
        .where(sql<boolean>`replace(sessions.agent, ${named}, '') <> sessions.agent`)
        .limit(1)
        .executeTakeFirst()
      return row?.session_id
    },

    list: (tenant: string, environment: string, paging: Paging): Promise<Listing<WorkItem>> =>
      readPage(tenant, ofEnvironment(db, tenant, environment), paging, rowWeight('metadata')),

    /** Items of all tenants whose lease expired after their worker was asked to stop. */
    overdue: (now: number, limit: number): Promise<WorkItem[]> =>
      db
        .selectFrom('work')
        .selectAll()
        .where(itemConditions.stopping)
        .where(isFree('work', now))
        .limit(limit)
        .execute(),

    /** Items of all tenants that were due or lapsed before `before`, neither acknowledged nor reported yet. */
    unclaimed: (before: number, limit: number): Promise<WorkItem[]> =>
      db
        .selectFrom('work')
        .selectAll()
        .where(itemConditions.unwarned)
        .where(awaited, '<=', before)
        .where(
          sql<boolean>`(lease_ms is not null or reserved_ms is null
            or due_ms <= ${before} - ${selectReclaimMs(sql.ref('work.tenant_id'), sql.ref('work.environment_id'))})`,
        )
        .limit(limit)
        .execute(),

    /** Items of all tenants whose lease or reservation has expired and was not announced yet. */
    lapsed: (now: number, limit: number): Promise<WorkItem[]> =>
      db
        .selectFrom('work')
        .selectAll()
        .where(itemConditions.unhinted)
        .where(lapses, '<=', now)
        .limit(limit)
        .execute(),

    /** `depth`: the number of items that a poll could claim, waiting or lapsed. */
    async stats(tenant: string, environment: string, now: number) {
      const ofAll = (states: RawBuilder<boolean>) =>
        db
          .selectFrom('work')
          .where('tenant_id', '=', tenant)
          .where('environment_id', '=', environment)
          .where(states)
      const counted = (rows: ReturnType<typeof ofAll>, oldest: RawBuilder<number>) =>
        rows
          .select((eb) => eb.fn.countAll<string | number>().as('all'))
          .select((eb) => eb.fn.min<string | number | null>(oldest).as('oldest'))
          .executeTakeFirstOrThrow()
      const waiting = await counted(ofAll(itemConditions.waiting), sql`due_ms`)
      const lapsed = [
        await counted(ofAll(itemConditions.reserved).where(lapses, '<=', now), lapses),
        await counted(ofAll(itemConditions.held).where('lease_ms', '<=', now), sql`lease_ms`),
      ]
      const pending = await counted(ofAll(itemConditions.reserved).where(lapses, '>', now), lapses)
      const free = [waiting, ...lapsed]
      const since = free.flatMap(({ oldest }) => (oldest === null ? [] : [Number(oldest)]))
      const workers = await db
        .selectFrom('work_pollers')
        .select((eb) => eb.fn.countAll<string | number>().as('polling'))
        .where('tenant_id', '=', tenant)
        .where('environment_id', '=', environment)
        .where('seen_ms', '>', now - presentMs)
        .executeTakeFirstOrThrow()
      return {
        type: 'work_queue_stats' as const,
        depth: free.reduce((sum, { all }) => sum + Number(all), 0),
        pending: Number(pending.all),
        oldest_queued_at: since.length > 0 ? iso(Math.min(...since)) : null,
        workers_polling: Number(workers.polling),
      }
    },
  }
}

function workWrites(db: Queries) {
  return {
    /** Like `row`, and locks the item until the transaction ends. */
    getForUpdate: (tenant: string, environment: string, id: string): Promise<WorkItem> =>
      row(forUpdate(db, byId(db, tenant, environment, id)).executeTakeFirst(), id),

    /** Like `find`, and keeps the item unchanged until the transaction ends. */
    findForShare: (
      tenant: string,
      environment: string,
      id: string,
    ): Promise<WorkItem | undefined> =>
      forShare(db, byId(db, tenant, environment, id)).executeTakeFirst(),

    /**
     * Claims an item in one statement and skips items that another transaction holds. An expired lease counts as an
     * attempt and restarts the waiting time; an expired reservation does neither.
     */
    claim: (
      tenant: string,
      environment: string,
      claiming: ClaimOptions,
      change: ItemChange,
    ): Promise<WorkItem | undefined> => {
      const { now, reclaimMs } = claiming
      const asked = Math.min(reclaimMs, longestReservationMs)
      const least = selectReclaimMs(tenant, environment)
      const ifHeld = (then: RawBuilder<number>, otherwise: string) =>
        sql<number>`case when ${itemConditions.held} then ${then} else ${sql.ref(otherwise)} end`
      return db
        .updateTable('work')
        .set((eb) => ({
          ...change,
          generation: eb('generation', '+', 1),
          reserved_until_ms: sql<number>`${now} + (case when ${least} > ${asked} then ${least} else ${asked} end)`,
          attempts: ifHeld(sql`attempts + 1`, 'attempts'),
          left_first_ms: ifHeld(sql`coalesce(left_first_ms, lease_ms)`, 'left_first_ms'),
          left_last_ms: ifHeld(sql`lease_ms`, 'left_last_ms'),
          due_ms: ifHeld(sql`cast(${now} as bigint)`, 'due_ms'),
          warned: ifHeld(sql`0`, 'warned'),
        }))
        .where('tenant_id', '=', tenant)
        .where('id', '=', (eb) =>
          eb.fn.coalesce(
            ...(claimableItems(db, tenant, environment, claiming).map((query) =>
              forUpdateSkippingLocked(db, query),
            ) as [never]),
          ),
        )
        .returningAll()
        .executeTakeFirst()
    },

    /** Like `live`, and locks the item until the transaction ends. */
    findLiveForUpdate: (tenant: string, session: string): Promise<WorkItem | undefined> =>
      forUpdate(db, ofSession(db, tenant, session).where(itemConditions.live)).executeTakeFirst(),

    /** Stops the session's item if no worker has it: it is unclaimed, or its lapse was announced. */
    async stopFree(tenant: string, session: string, now: number): Promise<void> {
      await db
        .updateTable('work')
        .set({
          state: 'stopped',
          stopped_at: iso(now),
          lease_ms: null,
          reserved_ms: null,
          reserved_until_ms: null,
        })
        .where('tenant_id', '=', tenant)
        .where('session_id', '=', session)
        .where(itemConditions.live)
        .where('state', '<>', 'stopping')
        .where((eb) => eb.or([itemConditions.waiting, eb('hinted', '=', 1)]))
        .execute()
    },

    async insert(item: WorkItem): Promise<void> {
      await db.insertInto('work').values(item).execute()
    },

    async change({ tenant_id, id }: WorkItem, change: ItemChange): Promise<void> {
      if (Object.keys(change).length === 0) return
      await db
        .updateTable('work')
        .set(change)
        .where('tenant_id', '=', tenant_id)
        .where('id', '=', id)
        .execute()
    },

    /** Writes the change unless the item changed since it was read. One statement. Returns whether it was written. */
    async replace(item: WorkItem, change: ItemChange): Promise<boolean> {
      if (Object.keys(change).length === 0) return true
      const { numUpdatedRows } = await db
        .updateTable('work')
        .set(change)
        .where('tenant_id', '=', item.tenant_id)
        .where('id', '=', item.id)
        .where('state', '=', item.state)
        .where('generation', '=', item.generation)
        .where('key_id', 'is not distinct from', item.key_id)
        .where('worker_id', 'is not distinct from', item.worker_id)
        .where('reserved_ms', 'is not distinct from', item.reserved_ms)
        .where('lease_ms', 'is not distinct from', item.lease_ms)
        .where('heartbeat', 'is not distinct from', item.heartbeat)
        .executeTakeFirstOrThrow()
      return numUpdatedRows > 0n
    },

    /** Moves times of all tenants that lie too far in the future to now, because the clock was set back. */
    async clampFutureTimes(now: number): Promise<void> {
      const past = now + furthestMs
      await db
        .updateTable('work')
        .set({ due_ms: now })
        .where(itemConditions.unwarned)
        .where(awaited, '>', past)
        .where('lease_ms', 'is', null)
        .execute()
      await db
        .updateTable('work')
        .set({
          reserved_ms: now,
          reserved_until_ms: sql<number>`reserved_until_ms - reserved_ms + ${now}`,
        })
        .where(itemConditions.unhinted)
        .where(lapses, '>', past)
        .where('lease_ms', 'is', null)
        .where('reserved_ms', '>', past)
        .execute()
      for (const held of [itemConditions.unwarned, itemConditions.stopping])
        await db
          .updateTable('work')
          .set({ lease_ms: now + claimLeaseMs })
          .where(held)
          .where(awaited, '>', past)
          .where('lease_ms', '>', past)
          .execute()
    },

    /** Records when these workers polled. */
    async seen(tenant: string, workers: readonly PollerRow[]): Promise<void> {
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

    /** Deletes at most `limit` items of all tenants that stopped before `before`. Returns true when none are left. */
    async forgetStopped(before: number, limit: number): Promise<boolean> {
      const old = await db
        .selectFrom('work')
        .select(['tenant_id', 'id'])
        .where(itemConditions.stopped)
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
  }
}

export const workStore = defineStore(workReads, workWrites)
