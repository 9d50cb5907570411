import type { Environment, EnvironmentRecord } from '@steward/protocol/environments.ts'
import { showEnvironment } from '@steward/protocol/environments.ts'
import { conflict, invalid } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/text/ids.ts'
import { isSameJson } from '../../ground/core/text/same-json.ts'
import type { Listing, Paging } from '../../ground/core/text/page.ts'
import { mapListing } from '../../ground/core/text/page.ts'
import { iso } from '@steward/base/time.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { defineStore } from '../../ground/database/store-of.ts'
import type { RowOf } from '../../ground/database/rows.ts'
import { rows } from '../../ground/database/rows.ts'
import { outbox } from '../../tenants/webhooks/outbox.ts'

type StoredEnvironmentRow = RowOf<'environments'>

export const archivedEnvironment = (id: string) =>
  invalid(`environment ${id} is archived and takes no new sessions`, 'environment_archived')

/** Archived environments do not occupy their names. [environments/archive/name-freed] */
async function checkName(db: Reads, tenant: string, name: string): Promise<void> {
  const taken = await db
    .selectFrom('environments')
    .select('id')
    .where('tenant_id', '=', tenant)
    .where('name', '=', name)
    .where('archived_at', 'is', null)
    .executeTakeFirst()
  if (taken) throw conflict(`name: an environment named ${name} exists already (${taken.id})`)
}

/** A user of the environment: an agent of any version, or a session that is not deleted. */
async function user(db: Reads, tenant: string, id: string): Promise<string | undefined> {
  const agent = await db
    .selectFrom('agents')
    .select('id')
    .where('tenant_id', '=', tenant)
    .where('environment_id', '=', id)
    .executeTakeFirst()
  if (agent) return `agent ${agent.id}`
  const session = await db
    .selectFrom('sessions')
    .select('id')
    .where('tenant_id', '=', tenant)
    .where('environment_id', '=', id)
    .where('deleted_at', 'is', null)
    .where('archived_at', 'is', null)
    .executeTakeFirst()
  return session && `session ${session.id}`
}

function environmentReads(db: Reads) {
  return {
    get: async (tenant: string, id: string): Promise<Environment> =>
      toEnvironment(await rows(db, 'environments').get(tenant, id)),

    /** The stored record, for code that starts sandboxes. */
    record: async (tenant: string, id: string): Promise<EnvironmentRecord> =>
      (await rows(db, 'environments').get(tenant, id)).record,

    async list(tenant: string, paging: Paging, archived: boolean): Promise<Listing<Environment>> {
      const found = await rows(db, 'environments').list(tenant, paging, { archived })
      return mapListing(found, toEnvironment)
    },
  }
}

function environmentWrites(db: Queries) {
  return {
    /** Keeps the environment unchanged until the transaction ends, for a session that is being created. */
    async getOpenForShare(
      tenant: string,
      id: string,
    ): Promise<{ archived: boolean; record: EnvironmentRecord }> {
      const { archived_at, record } = await rows(db, 'environments').getForShare(tenant, id)
      return { archived: archived_at !== null, record }
    },

    /** Throws 409 when the name is taken in the workspace. */
    async create(tenant: string, record: EnvironmentRecord, now: number): Promise<Environment> {
      await checkName(db, tenant, record.name)
      const at = iso(now)
      const made: StoredEnvironmentRow = {
        tenant_id: tenant,
        id: newId('environment'),
        name: record.name,
        record,
        reclaim_ms: record.reclaim_older_than_ms ?? 0,
        archived_at: null,
        created_at: at,
        updated_at: at,
      }
      await rows(db, 'environments').insert(made)
      await outbox(db).put(tenant, ['environment.created'], { id: made.id }, now)
      return toEnvironment(made)
    },

    async update(
      tenant: string,
      id: string,
      change: (kept: EnvironmentRecord) => EnvironmentRecord,
      now: number,
    ): Promise<Environment> {
      const kept = await rows(db, 'environments').getForUpdate(tenant, id)
      if (kept.archived_at)
        throw invalid(`environment ${id} is archived and cannot be changed`, 'environment_archived')
      const before = kept.record
      const record = change(before)
      if (isSameJson(record, before)) return toEnvironment(kept)
      if (record.name !== kept.name) await checkName(db, tenant, record.name)
      const columns = {
        name: record.name,
        record,
        reclaim_ms: record.reclaim_older_than_ms ?? 0,
        updated_at: iso(now),
      }
      const row = await rows(db, 'environments').update(kept, columns)
      await outbox(db).put(tenant, ['environment.updated'], { id }, now)
      return toEnvironment(row)
    },

    /** Archives an environment for good. Its running sessions continue. */
    async archive(tenant: string, id: string, now: number): Promise<Environment> {
      const kept = await rows(db, 'environments').getForUpdate(tenant, id)
      if (kept.archived_at) return toEnvironment(kept)
      const row = await rows(db, 'environments').archive(kept, now)
      await outbox(db).put(tenant, ['environment.archived'], { id }, now)
      return toEnvironment(row)
    },

    /** Throws 409 while an agent or a live session refers to the environment. */
    async remove(tenant: string, id: string, now: number): Promise<void> {
      // Lock first: a session that is being created holds the row.
      await rows(db, 'environments').getForUpdate(tenant, id)
      const inUse = await user(db, tenant, id)
      if (inUse)
        throw conflict(
          `environment ${id} is used by ${inUse}: archive it, or remove what uses it first`,
        )
      await rows(db, 'environments').remove(tenant, id)
      await outbox(db).put(tenant, ['environment.deleted'], { id }, now)
    },
  }
}

/** Environments: one record each, shown in both spellings. */
export const environmentStore = defineStore(environmentReads, environmentWrites)

const toEnvironment = (row: StoredEnvironmentRow): Environment => ({
  ...showEnvironment(row.record),
  id: row.id,
  type: 'environment',
  archived_at: row.archived_at,
  created_at: row.created_at,
  updated_at: row.updated_at,
})
