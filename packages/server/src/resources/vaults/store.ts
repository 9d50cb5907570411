import { iso } from '@steward/base/time.ts'
import type { Vault } from '@steward/protocol/vaults.ts'
import { invalid } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/text/ids.ts'
import type { Listing, Paging } from '../../ground/core/text/page.ts'
import { mapListing } from '../../ground/core/text/page.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import type { ListFilter, RowOf } from '../../ground/database/rows.ts'
import { rows } from '../../ground/database/rows.ts'
import { defineStore } from '../../ground/database/store-of.ts'

type VaultRow = RowOf<'vaults'>

const vaultReads = (db: Reads) => ({
  get: async (tenant: string, id: string): Promise<Vault> =>
    showVault(await rows(db, 'vaults').get(tenant, id)),

  async list(
    tenant: string,
    { paging, ...filter }: { paging: Paging } & ListFilter,
  ): Promise<Listing<Vault>> {
    const found = await rows(db, 'vaults').list(tenant, paging, filter)
    return mapListing(found, showVault)
  },
})

const vaultWrites = (db: Queries) => ({
  /**
   * For a session that is being created: the vault exists, is not archived, and stays so until the transaction ends.
   * `at` names the field.
   */
  async getOpenForShare(tenant: string, id: string, at: string): Promise<void> {
    const row = await rows(db, 'vaults').getForShare(tenant, id)
    if (row.archived_at !== null)
      throw invalid(`${at}: vault ${id} is archived and takes no new sessions`)
  },

  async insert(
    tenant: string,
    { name, metadata, now }: { name: string; metadata: Record<string, string>; now: number },
  ): Promise<Vault> {
    const at = iso(now)
    const times = { archived_at: null, created_at: at, updated_at: at }
    const row = { tenant_id: tenant, id: newId('vault'), name, metadata, ...times }
    return showVault(await rows(db, 'vaults').insert(row))
  },

  async update(
    kept: VaultRow,
    change: Partial<Pick<VaultRow, 'name' | 'metadata'>>,
    now: number,
  ): Promise<Vault> {
    const columns = { ...change, updated_at: iso(now) }
    return showVault(await rows(db, 'vaults').update(kept, columns))
  },

  archive: async (kept: VaultRow, now: number): Promise<Vault> =>
    showVault(await rows(db, 'vaults').archive(kept, now)),
})

/** Vaults: names and states. Their credentials are in credentials.ts. */
export const vaultStore = defineStore(vaultReads, vaultWrites)

export const showVault = ({ id, name, ...row }: VaultRow): Vault => ({
  id,
  type: 'vault',
  display_name: name,
  name,
  tenant_id: row.tenant_id,
  metadata: row.metadata,
  archived_at: row.archived_at,
  created_at: row.created_at,
  updated_at: row.updated_at,
})
