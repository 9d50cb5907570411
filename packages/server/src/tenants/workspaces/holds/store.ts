import type { HoldScope, HoldShown } from '@steward/protocol/holds.ts'
import { iso } from '@steward/base/time.ts'
import { showCreator, creatorOf } from '../../../ground/core/creator.ts'
import { notFound } from '../../../ground/core/errors.ts'
import { auditChange } from '../../../ground/core/security/audited-call.ts'
import { newId } from '../../../ground/core/text/ids.ts'
import type { Listing, Paging } from '../../../ground/core/text/page.ts'
import type { Queries, Reads } from '../../../ground/database/database.ts'
import type { HoldRow } from '../../../ground/database/holds.ts'
import { readPage, rowWeight } from '../../../ground/database/listing.ts'
import { defineStore } from '../../../ground/database/store-of.ts'

const one = (db: Reads, tenant: string, id: string) =>
  db.selectFrom('holds').selectAll().where('tenant_id', '=', tenant).where('id', '=', id)

function holdReads(db: Reads) {
  return {
    async get(tenant: string, id: string): Promise<HoldRow> {
      const row = await one(db, tenant, id).executeTakeFirst()
      if (!row) throw notFound('hold', id)
      return row
    },

    /** Newest first unless `paging` says otherwise. */
    list(tenant: string, paging: Paging, includesReleased: boolean): Promise<Listing<HoldRow>> {
      const all = db.selectFrom('holds').selectAll().where('tenant_id', '=', tenant)
      const rows = includesReleased ? all : all.where('released_at', 'is', null)
      return readPage(tenant, rows, paging, rowWeight('reason', 'creator_name', 'releaser_name'))
    },

    /** True when the tenant has the session, and it is not deleted. */
    async hasSession(tenant: string, id: string): Promise<boolean> {
      const row = await db
        .selectFrom('sessions')
        .select('id')
        .where('tenant_id', '=', tenant)
        .where('id', '=', id)
        .where('deleted_at', 'is', null)
        .executeTakeFirst()
      return row !== undefined
    },

    /** True when the person has made a session of the tenant. */
    async hasMadeSessions(tenant: string, person: string): Promise<boolean> {
      const row = await db
        .selectFrom('sessions')
        .select('id')
        .where('tenant_id', '=', tenant)
        .where('creator_id', '=', person)
        .limit(1)
        .executeTakeFirst()
      return row !== undefined
    },
  }
}

function holdWrites(db: Queries) {
  return {
    async insert(
      tenant: string,
      { scope, reason }: { scope: HoldScope; reason: string },
      now: number,
    ): Promise<HoldRow> {
      const row: HoldRow = {
        tenant_id: tenant,
        id: newId('hold'),
        scope: scope.type,
        subject_id: subjectOf(scope),
        reason,
        ...creatorOf(),
        created_at: iso(now),
        released_at: null,
        releaser_type: null,
        releaser_id: null,
        releaser_name: null,
      }
      await db.insertInto('holds').values(row).execute()
      const after = { scope: row.scope, subject_id: row.subject_id, reason }
      auditChange({ type: 'hold', id: row.id, after })
      return row
    },

    /** A hold that was released before stays as it is. */
    async release(tenant: string, id: string, now: number): Promise<void> {
      const { creator_type: type, creator_id: by, creator_name: name } = creatorOf()
      const set = {
        released_at: iso(now),
        releaser_type: type,
        releaser_id: by,
        releaser_name: name,
      }
      const { numUpdatedRows } = await db
        .updateTable('holds')
        .set(set)
        .where('tenant_id', '=', tenant)
        .where('id', '=', id)
        .where('released_at', 'is', null)
        .executeTakeFirst()
      if (numUpdatedRows > 0n)
        auditChange({ type: 'hold', id, before: { released_at: null }, after: set })
    },
  }
}

const subjectOf = (scope: HoldScope): string => {
  if (scope.type === 'workspace') return ''
  return scope.type === 'session' ? scope.session_id : scope.person_id
}

function scopeOf({ scope, subject_id }: HoldRow): HoldScope {
  if (scope === 'workspace') return { type: scope }
  return scope === 'session'
    ? { type: scope, session_id: subject_id }
    : { type: scope, person_id: subject_id }
}

export const showHold = (row: HoldRow): HoldShown => ({
  id: row.id,
  type: 'hold',
  scope: scopeOf(row),
  reason: row.reason,
  created_by: showCreator(row),
  created_at: row.created_at,
  released_by: showCreator({
    creator_type: row.releaser_type,
    creator_id: row.releaser_id,
    creator_name: row.releaser_name,
  }),
  released_at: row.released_at,
})

/** Holds of a workspace, in force and released; they stay until the workspace is deleted. */
export const holdStore = defineStore(holdReads, holdWrites)

/** The holds in force, where workspaces and people are deleted; rows of the control database. */
export const holdMarks = (db: Queries) => ({
  async add(tenant: string, hold: string, person: string | null): Promise<void> {
    await db
      .insertInto('hold_marks')
      .values({ tenant_id: tenant, hold_id: hold, person_id: person })
      .onConflict((on) => on.columns(['tenant_id', 'hold_id']).doNothing())
      .execute()
  },
  async remove(tenant: string, hold: string): Promise<void> {
    await db
      .deleteFrom('hold_marks')
      .where('tenant_id', '=', tenant)
      .where('hold_id', '=', hold)
      .execute()
  },
})
