import type { Vault } from '@steward/protocol/vaults.ts'
import { invalid, notFound } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/ids.ts'
import type { Listing, Paging } from '../../ground/core/page.ts'
import { listingOf } from '../../ground/core/page.ts'
import { iso } from '@steward/base/time.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { storeOf } from '../../ground/database/store-of.ts'
import { readPage, weightOf } from '../../ground/database/listing.ts'
import { holding, taking } from '../../ground/database/lock.ts'
import type { Tables } from '../../ground/database/tables.ts'
import { fromJson, toJson } from '../../ground/core/json-text.ts'

type Row = Tables['vaults']

const byId = (db: Reads, tenant: string, id: string) =>
  db.selectFrom('vaults').selectAll().where('tenant_id', '=', tenant).where('id', '=', id)

async function get(
  db: Reads,
  tenant: string,
  id: string,
  query = byId(db, tenant, id),
): Promise<Vault> {
  const row = await query.executeTakeFirst()
  if (!row) throw notFound('vault', id)
  return showVault(row)
}

function vaultReads(db: Reads) {
  return {
    get: (tenant: string, id: string) => get(db, tenant, id),

    async list(
      tenant: string,
      { paging, archived }: { paging: Paging; archived: boolean },
    ): Promise<Listing<Vault>> {
      const rows = db
        .selectFrom('vaults')
        .selectAll()
        .where('tenant_id', '=', tenant)
        .$if(!archived, (query) => query.where('archived_at', 'is', null))
      return listingOf(
        await readPage(tenant, rows, paging, weightOf('name', 'metadata')),
        showVault,
      )
    },
  }
}

function vaultWrites(db: Queries) {
  return {
    /** As `get`, and no other writer of the vault or of what lies in it until the transaction ends. */
    take: (tenant: string, id: string) => get(db, tenant, id, taking(db, byId(db, tenant, id))),

    /** For a session that is made: there, not archived, and so until the transaction ends. `at` names the place. */
    async hold(tenant: string, id: string, at: string): Promise<void> {
      const row = await holding(db, byId(db, tenant, id)).executeTakeFirst()
      if (!row) throw notFound('vault', id)
      if (row.archived_at !== null)
        throw invalid(`${at}: vault ${id} is archived and takes no new sessions`)
    },

    async insert(
      tenant: string,
      { name, metadata, now }: { name: string; metadata: Record<string, string>; now: number },
    ): Promise<Vault> {
      const row: Row = {
        tenant_id: tenant,
        id: newId('vault'),
        name,
        metadata: toJson(metadata),
        archived_at: null,
        created_at: iso(now),
        updated_at: iso(now),
      }
      await db.insertInto('vaults').values(row).execute()
      return showVault(row)
    },

    async update(
      tenant: string,
      id: string,
      change: {
        name?: string
        metadata?: Record<string, string>
        archivedAt?: string
        now: number
      },
    ): Promise<Vault> {
      const { name, metadata, archivedAt, now } = change
      await db
        .updateTable('vaults')
        .set({
          updated_at: iso(now),
          ...(name === undefined ? {} : { name }),
          ...(metadata === undefined ? {} : { metadata: toJson(metadata) }),
          ...(archivedAt === undefined ? {} : { archived_at: archivedAt }),
        })
        .where('tenant_id', '=', tenant)
        .where('id', '=', id)
        .execute()
      return get(db, tenant, id)
    },

    async remove(tenant: string, id: string): Promise<void> {
      await db.deleteFrom('vaults').where('tenant_id', '=', tenant).where('id', '=', id).execute()
    },
  }
}

/** Vaults: names and states alone; what lies in them is vaults/credentials.ts. */
export const vaultStore = storeOf(vaultReads, vaultWrites)

const showVault = (row: Row): Vault => ({
  id: row.id,
  type: 'vault',
  display_name: row.name,
  name: row.name,
  tenant_id: row.tenant_id,
  metadata: fromJson(row.metadata),
  archived_at: row.archived_at,
  created_at: row.created_at,
  updated_at: row.updated_at,
})
