import type { Credential, CredentialAuth } from '@steward/protocol/vaults.ts'
import { conflict, invalid, notFound } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/text/ids.ts'
import type { Listing, Paging } from '../../ground/core/text/page.ts'
import { mapListing } from '../../ground/core/text/page.ts'
import type { Seal } from '../../ground/core/security/seal.ts'
import { iso } from '@steward/base/time.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { defineStore } from '../../ground/database/store-of.ts'
import type { ListFilter, RowOf, RowQuery } from '../../ground/database/rows.ts'
import { rows } from '../../ground/database/rows.ts'
import type { SealedSecrets, SecretPart } from '../../ground/database/tables/vaults.ts'
import type { CredentialSecrets, WrittenAuth } from './auth.ts'
import { bindingOf } from './auth.ts'
import { toJson } from '../../ground/core/text/json-text.ts'

type FullCredentialRow = RowOf<'vault_credentials'>

/** An active credential as the egress reads it. Its secrets stay sealed. */
export type CredentialRow = Pick<
  FullCredentialRow,
  'tenant_id' | 'vault_id' | 'id' | 'revision'
> & {
  auth: CredentialAuth
  sealed: SealedSecrets
}

/** Credentials of one vault. [limits/vault-credentials] */
const mostPerVault = 20

/** The context that a secret is sealed for. */
export const sealedContext = (tenant: string, id: string, part: SecretPart): string =>
  `${tenant}/vault_credentials/${id}/${part}`

export const sealSecrets = (
  seal: Seal,
  { tenant, id }: { tenant: string; id: string },
  secrets: CredentialSecrets,
): SealedSecrets =>
  Object.fromEntries(
    Object.entries(secrets).map(([part, secret]) => [
      part,
      seal.seal(secret, sealedContext(tenant, id, part as SecretPart)),
    ]),
  )

export const sealedOf = (row: FullCredentialRow): SealedSecrets => row.sealed ?? {}

/** The credential for the egress; undefined when it is archived. */
export function credentialRow(
  row: Omit<CredentialRow, 'sealed'> & Pick<FullCredentialRow, 'archived_at' | 'sealed'>,
): CredentialRow | undefined {
  const { tenant_id, vault_id, id, revision, auth, sealed } = row
  if (row.archived_at !== null || sealed === null) return undefined
  return { tenant_id, vault_id, id, revision, auth, sealed }
}

function resealed(
  kept: FullCredentialRow,
  { written, seal }: { written: WrittenAuth; seal: Seal },
): SealedSecrets {
  const sealed = { ...sealedOf(kept) }
  for (const part of written.dropped) delete sealed[part]
  const { tenant_id: tenant, id } = kept
  return { ...sealed, ...sealSecrets(seal, { tenant, id }, written.secrets) }
}

const at = (db: Queries, tenant: string, id: string) =>
  db.updateTable('vault_credentials').where('tenant_id', '=', tenant).where('id', '=', id)

/** For calls: one credential's row, and its new tokens. */
function liveReads(db: Reads) {
  return {
    /** An active credential of any vault; undefined when it is archived or deleted. */
    async active(tenant: string, id: string): Promise<CredentialRow | undefined> {
      const found = await rows(db, 'vault_credentials').find(tenant, id)
      return found && credentialRow(found)
    },
  }
}

function liveWrites(db: Queries) {
  return {
    /** Stores the new tokens of a refresh. Returns false when the row has another revision. */
    async rotate(
      tenant: string,
      { id, revision }: Pick<FullCredentialRow, 'id' | 'revision'>,
      next: { auth: CredentialAuth; sealed: SealedSecrets; now: number },
    ): Promise<boolean> {
      const { numUpdatedRows } = await at(db, tenant, id)
        .set({
          auth: toJson(next.auth),
          sealed: toJson(next.sealed),
          revision: revision + 1,
          updated_at: iso(next.now),
        })
        .where('revision', '=', revision)
        .where('archived_at', 'is', null)
        .executeTakeFirst()
      return numUpdatedRows === 1n
    },
  }
}

type NarrowCredentials = (query: RowQuery<'vault_credentials'>) => RowQuery<'vault_credentials'>
const inVault =
  (vault: string, id: string): NarrowCredentials =>
  (query) =>
    query.where('vault_id', '=', vault).where('id', '=', id)
const activeIn =
  (vault: string, binding?: string): NarrowCredentials =>
  (query) => {
    const active = query.where('vault_id', '=', vault).where('archived_at', 'is', null)
    return binding === undefined ? active : active.where('binding', '=', binding)
  }

function thatIsThere(id: string, row: FullCredentialRow | undefined): FullCredentialRow {
  if (!row) throw notFound('credential', id)
  return row
}

const get = async (
  db: Reads,
  tenant: string,
  vault: string,
  id: string,
): Promise<FullCredentialRow> =>
  thatIsThere(id, await rows(db, 'vault_credentials').find(tenant, inVault(vault, id)))

async function refuseTaken(
  db: Reads,
  tenant: string,
  vault: string,
  binding: string,
): Promise<void> {
  const taken = await rows(db, 'vault_credentials').find(tenant, activeIn(vault, binding))
  if (taken) {
    throw conflict(
      `auth: credential ${taken.id} of this vault is for the same already; update or archive it`,
    )
  }
}

function credentialReads(db: Reads) {
  return {
    ...liveReads(db),

    row: (tenant: string, vault: string, id: string) => get(db, tenant, vault, id),

    async get(tenant: string, vault: string, id: string): Promise<Credential> {
      return showCredential(await get(db, tenant, vault, id))
    },

    /** The oldest first; a vault holds few. */
    async allActive(tenant: string, vault: string): Promise<Credential[]> {
      const found = await rows(db, 'vault_credentials').all(tenant, (query) =>
        activeIn(vault)(query).orderBy('created_at').orderBy('id'),
      )
      return found.map(showCredential)
    },

    /** The newest first unless asked otherwise. */
    async list(
      tenant: string,
      vault: string,
      { paging, ...filter }: { paging: Paging } & ListFilter,
    ): Promise<Listing<Credential>> {
      const where: NarrowCredentials = (query) => query.where('vault_id', '=', vault)
      const found = await rows(db, 'vault_credentials').list(tenant, paging, { ...filter, where })
      return mapListing(found, showCredential)
    },
  }
}

function credentialWrites(db: Queries) {
  return {
    ...liveWrites(db),

    /** Like `row`, and locks the row until the transaction ends. */
    getForUpdate: async (tenant: string, vault: string, id: string): Promise<FullCredentialRow> =>
      thatIsThere(
        id,
        await rows(db, 'vault_credentials').findForUpdate(tenant, inVault(vault, id)),
      ),

    /**
     * Locks and returns the active credential of the same purpose, if there is one. The caller holds the vault's lock.
     */
    bound: (
      tenant: string,
      vault: string,
      binding: string,
    ): Promise<FullCredentialRow | undefined> =>
      rows(db, 'vault_credentials').findForUpdate(tenant, activeIn(vault, binding)),

    /** At most 20 active credentials a vault, one for each purpose. The caller holds the vault's lock. */
    async insert(
      tenant: string,
      vault: string,
      made: {
        written: WrittenAuth
        seal: Seal
        display_name: string | null
        metadata: Record<string, string>
        now: number
      },
    ): Promise<Credential> {
      const { written, seal, display_name, metadata, now } = made
      const binding = bindingOf(written.auth)
      await refuseTaken(db, tenant, vault, binding)
      const { count } = await db
        .selectFrom('vault_credentials')
        .select(({ fn }) => fn.countAll<number | string>().as('count'))
        .where('tenant_id', '=', tenant)
        .where('vault_id', '=', vault)
        .where('archived_at', 'is', null)
        .executeTakeFirstOrThrow()
      if (Number(count) >= mostPerVault)
        throw invalid(`a vault holds at most ${mostPerVault} credentials; archive one first`)
      const id = newId('credential')
      const fresh: FullCredentialRow = {
        tenant_id: tenant,
        id,
        vault_id: vault,
        display_name,
        metadata,
        auth: written.auth,
        sealed: sealSecrets(seal, { tenant, id }, written.secrets),
        binding,
        revision: 1,
        refresh_owner: null,
        refresh_until_ms: 0,
        archived_at: null,
        created_at: iso(now),
        updated_at: iso(now),
      }
      return showCredential(await rows(db, 'vault_credentials').insert(fresh))
    },

    /** A new auth raises the revision, by which a running refresh notices the change. */
    async update(
      tenant: string,
      kept: FullCredentialRow,
      change: {
        auth?: { written: WrittenAuth; seal: Seal }
        display_name: string | null
        metadata: Record<string, string>
        now: number
      },
    ): Promise<Credential> {
      const { auth, display_name, metadata, now } = change
      const binding = auth ? bindingOf(auth.written.auth) : kept.binding
      if (binding !== kept.binding) await refuseTaken(db, tenant, kept.vault_id, binding)
      const columns = {
        display_name,
        metadata,
        updated_at: iso(now),
        ...(auth
          ? {
              binding,
              auth: auth.written.auth,
              sealed: resealed(kept, auth),
              revision: kept.revision + 1,
            }
          : {}),
      }
      return showCredential(await rows(db, 'vault_credentials').update(kept, columns))
    },

    /** Removes the secret at once and frees its purpose. The record stays. */
    async archive(tenant: string, kept: FullCredentialRow, now: number): Promise<Credential> {
      const columns = { archived_at: iso(now), updated_at: iso(now), sealed: null }
      await at(db, tenant, kept.id)
        .set((eb) => ({ ...columns, revision: eb('revision', '+', 1) }))
        .execute()
      return showCredential({ ...kept, ...columns })
    },

    /** Archives all active credentials of an archived vault. */
    async archiveAll(tenant: string, vault: string, now: number): Promise<string[]> {
      const found = await db
        .updateTable('vault_credentials')
        .set((eb) => ({
          archived_at: iso(now),
          updated_at: iso(now),
          sealed: null,
          revision: eb('revision', '+', 1),
        }))
        .where('tenant_id', '=', tenant)
        .where('vault_id', '=', vault)
        .where('archived_at', 'is', null)
        .returning('id')
        .execute()
      return found.map(({ id }) => id)
    },

    async remove(tenant: string, vault: string, id: string): Promise<void> {
      const { numDeletedRows } = await db
        .deleteFrom('vault_credentials')
        .where('tenant_id', '=', tenant)
        .where('vault_id', '=', vault)
        .where('id', '=', id)
        .executeTakeFirst()
      if (numDeletedRows === 0n) throw notFound('credential', id)
    },

    async removeAll(tenant: string, vault: string): Promise<string[]> {
      const found = await db
        .deleteFrom('vault_credentials')
        .where('tenant_id', '=', tenant)
        .where('vault_id', '=', vault)
        .returning('id')
        .execute()
      return found.map(({ id }) => id)
    },
  }
}

/** Credentials: sealed when stored, shown without secrets, opened only for the egress. */
export const credentialStore = defineStore(credentialReads, credentialWrites)

export const showCredential = (row: FullCredentialRow): Credential => ({
  id: row.id,
  type: 'vault_credential',
  vault_id: row.vault_id,
  display_name: row.display_name,
  auth: row.auth,
  metadata: row.metadata,
  archived_at: row.archived_at,
  created_at: row.created_at,
  updated_at: row.updated_at,
})
