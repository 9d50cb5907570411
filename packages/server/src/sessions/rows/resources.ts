import type {
  ResourceFields,
  ResourceType,
  SessionResource,
} from '@steward/protocol/session-resources.ts'
import { auditChange } from '../../ground/core/security/audited-call.ts'
import { notFound } from '../../ground/core/errors.ts'
import type { Listing, Paging } from '../../ground/core/text/page.ts'
import { mapListing } from '../../ground/core/text/page.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { defineStore } from '../../ground/database/store-of.ts'
import { readPage, rowWeight } from '../../ground/database/listing.ts'
import type { Tables } from '../../ground/database/tables.ts'
import { fromJson, toJson } from '../../ground/core/text/json-text.ts'

type StoredResource = Tables['session_resources']

/** A resource of a session, with the fields of its type. */
export type ResourceRow<Type extends ResourceType = ResourceType> = Type extends unknown
  ? Omit<StoredResource, 'type' | 'fields'> & { type: Type; fields: ResourceFields<Type> }
  : never

/** The cast holds, because a row is written with the fields of its type. */
const decoded = (row: StoredResource): ResourceRow =>
  ({ ...row, fields: fromJson(row.fields) }) as ResourceRow

/** The rows of one type. */
export const ofType = <Type extends ResourceType>(
  rows: readonly ResourceRow[],
  type: Type,
): ResourceRow<Type>[] => rows.filter((row): row is ResourceRow<Type> => row.type === type)

/** The context that a repository's token is sealed for. */
export const repositoryTokenContext = (tenant: string, resource: string): string =>
  `${tenant}/session_resources/${resource}/sealed_token`

const ofTenant = (db: Reads, tenant: string) =>
  db.selectFrom('session_resources').selectAll().where('tenant_id', '=', tenant)

const rowsOfSessions = async (
  db: Reads,
  tenant: string,
  sessions: readonly string[],
): Promise<ResourceRow[]> => {
  if (sessions.length === 0) return []
  const rows = ofTenant(db, tenant).where('session_id', 'in', sessions)
  return (await rows.orderBy('created_at').orderBy('id').execute()).map(decoded)
}

function resourceReads(db: Reads) {
  return {
    async row(tenant: string, session: string, id: string): Promise<ResourceRow> {
      const found = await ofTenant(db, tenant)
        .where('session_id', '=', session)
        .where('id', '=', id)
        .executeTakeFirst()
      if (!found) throw notFound('resource', id)
      return decoded(found)
    },

    async list(tenant: string, session: string, paging: Paging): Promise<Listing<ResourceRow>> {
      const rows = ofTenant(db, tenant).where('session_id', '=', session)
      const found = await readPage(tenant, rows, paging, rowWeight('fields', 'mount_path'))
      return mapListing(found, decoded)
    },

    /** In the order of attachment. */
    ofSession: (tenant: string, session: string): Promise<ResourceRow[]> =>
      rowsOfSessions(db, tenant, [session]),

    /** Resources by session, each list in the order of attachment. */
    async ofSessions(
      tenant: string,
      sessions: readonly string[],
    ): Promise<Map<string, ResourceRow[]>> {
      return Map.groupBy(await rowsOfSessions(db, tenant, sessions), (row) => row.session_id)
    },
  }
}

function resourceWrites(db: Queries) {
  return {
    async insert(row: ResourceRow): Promise<void> {
      await db
        .insertInto('session_resources')
        .values({ ...row, fields: toJson(row.fields) })
        .execute()
      const { id, session_id: parent, type, fields } = row
      auditChange({
        type: 'session_resource',
        id,
        parent,
        after: { resource_type: type, ...fields },
      })
    },

    async update(
      tenant: string,
      session: string,
      id: string,
      change: Partial<Pick<ResourceRow, 'sealed_token' | 'mounted_at' | 'updated_at'>>,
    ): Promise<void> {
      await db
        .updateTable('session_resources')
        .set(change)
        .where('tenant_id', '=', tenant)
        .where('session_id', '=', session)
        .where('id', '=', id)
        .execute()
    },

    async remove(tenant: string, session: string, id?: string): Promise<void> {
      await db
        .deleteFrom('session_resources')
        .where('tenant_id', '=', tenant)
        .where('session_id', '=', session)
        .$if(id !== undefined, (query) => query.where('id', '=', id ?? ''))
        .execute()
    },
  }
}

/** The resources of sessions. */
export const resourceStore = defineStore(resourceReads, resourceWrites)

/** Leaves the token out. */
export function showResource(row: ResourceRow): SessionResource {
  const { id, mount_path, resolved_path, created_at, updated_at, type, fields } = row
  const shown = { id, mount_path, resolved_path, created_at, updated_at, type, ...fields }
  return shown as SessionResource
}
