/** Writes vaults and credentials for callers: one transaction each, with its row in the audit log. */
import type {
  Credential,
  CredentialCreate,
  CredentialUpdate,
  Vault,
  VaultCreate,
  VaultUpdate,
} from '@steward/protocol/vaults.ts'
import { broughtBy } from '@steward/protocol/vaults.ts'
import type { AuditAction } from '../../tenants/audit/store.ts'
import { auditStore } from '../../tenants/audit/store.ts'
import { conflict, invalid } from '../../ground/core/errors.ts'
import { admitDestinations } from '../../ground/core/security/secret-destination.ts'
import { isSameJson } from '../../ground/core/text/same-json.ts'
import { mergeMetadata } from '../../ground/core/text/metadata.ts'
import type { Seal } from '../../ground/core/security/seal.ts'
import type { Queries } from '../../ground/database/database.ts'
import type { RowOf } from '../../ground/database/rows.ts'
import type { SecretPart } from '../../ground/database/tables/vaults.ts'
import type { WrittenAuth } from './auth.ts'
import { bindingOf, updateAuth, splitAuth } from './auth.ts'
import { credentialStore, sealedOf } from './credentials.ts'
import { requireReferenceRight } from './admit-references.ts'
import { newDestinations } from './destinations.ts'
import { referencesGiven } from './references.ts'
import { showVault, vaultStore } from './store.ts'
import { rows } from '../../ground/database/rows.ts'

/** The context of a transaction. `keyId`: the key in whose name it writes; null for the service itself. */
export type VaultWriteContext = {
  tx: Queries
  tenant: string
  seal: Seal
  keyId: string | null
  isAdmin: boolean
  now: number
}

const audited = (
  { tx, tenant, keyId, now }: VaultWriteContext,
  change: AuditAction,
  vault: string,
  credential: string | null = null,
) => {
  const of = { vault, ...(credential === null ? {} : { credential }) }
  return auditStore(tx).changed(tenant, {
    change,
    of,
    by: keyId === null ? {} : { api_key_id: keyId },
    now,
  })
}

export async function createVault(writing: VaultWriteContext, input: VaultCreate): Promise<Vault> {
  const { tx, tenant, now } = writing
  const name = input.display_name ?? input.name ?? ''
  const made = { name, metadata: input.metadata ?? {}, now }
  const vault = await vaultStore(tx).insert(tenant, made)
  await audited(writing, 'vault.created', vault.id)
  await putCredentials(writing, vault.id, broughtBy(input))
  return vault
}

/** Updates name and metadata. Credentials in the body are replaced or added. */
export async function updateVault(
  writing: VaultWriteContext,
  id: string,
  input: VaultUpdate,
): Promise<Vault> {
  const { tx, now } = writing
  const kept = await openVault(writing, id)
  const name = input.display_name ?? input.name ?? kept.name
  const metadata = mergeMetadata(kept.metadata, input.metadata ?? {})
  await putCredentials(writing, id, broughtBy(input))
  const isSame = name === kept.name && isSameJson(metadata, kept.metadata)
  if (isSame) return showVault(kept)
  await audited(writing, 'vault.updated', id)
  return vaultStore(tx).update(kept, { name, metadata }, now)
}

/** Locks the vault until the transaction ends. */
async function openVault({ tx, tenant }: VaultWriteContext, id: string) {
  const vault = await rows(tx, 'vaults').getForUpdate(tenant, id)
  if (vault.archived_at !== null) throw invalid(`vault ${id} is archived and cannot be changed`)
  return vault
}

/**
 * Archives a vault for good: sessions cannot use it, and its secrets are removed at once. A repeated call changes
 * nothing.
 */
export async function archiveVault(writing: VaultWriteContext, id: string): Promise<Vault> {
  const { tx, tenant, now } = writing
  const vault = await rows(tx, 'vaults').getForUpdate(tenant, id)
  if (vault.archived_at !== null) return showVault(vault)
  for (const credential of await credentialStore(tx).archiveAll(tenant, id, now))
    await audited(writing, 'credential.archived', id, credential)
  await audited(writing, 'vault.archived', id)
  return vaultStore(tx).archive(vault, now)
}

export async function deleteVault(writing: VaultWriteContext, id: string): Promise<void> {
  const { tx, tenant } = writing
  await rows(tx, 'vaults').getForUpdate(tenant, id)
  for (const credential of await credentialStore(tx).removeAll(tenant, id))
    await audited(writing, 'credential.deleted', id, credential)
  await rows(tx, 'vaults').remove(tenant, id)
  await audited(writing, 'vault.deleted', id)
}

/** Replaces a credential with the same id or the same purpose; adds any other. */
async function putCredentials(
  writing: VaultWriteContext,
  vault: string,
  brought: ReturnType<typeof broughtBy>,
): Promise<void> {
  const { tx, tenant, now } = writing
  const seen = new Set<string>()
  for (const {
    at,
    input: { id, ...input },
  } of brought) {
    requireReferenceRight(referencesGiven(input.auth, at), writing.isAdmin)
    const written = splitAuth(input.auth, at, now)
    const binding = bindingOf(written.auth)
    if (seen.has(binding)) throw conflict(`${at}: another credential here is for the same already`)
    seen.add(binding)
    const store = credentialStore(tx)
    const kept = id
      ? await activeRow(writing, vault, id)
      : await store.bound(tenant, vault, binding)
    if (kept) await replace(writing, kept, { ...input, written, at })
    else await insert(writing, vault, { ...input, written })
  }
}

type Labels = Pick<CredentialCreate, 'display_name' | 'metadata'>

async function insert(
  writing: VaultWriteContext,
  vault: string,
  { written, display_name, metadata }: Labels & { written: WrittenAuth },
): Promise<Credential> {
  const { tx, tenant, seal, now } = writing
  const credential = await credentialStore(tx).insert(tenant, vault, {
    written,
    seal,
    display_name: display_name ?? null,
    metadata: metadata ?? {},
    now,
  })
  await audited(writing, 'credential.created', vault, credential.id)
  return credential
}

/** Replaces the whole auth: fields that the new auth leaves out are removed. The purpose cannot change. */
async function replace(
  writing: VaultWriteContext,
  kept: ActiveCredentialRow,
  { written, display_name, metadata, at }: Labels & { written: WrittenAuth; at: string },
): Promise<void> {
  const { tx, tenant, seal, now } = writing
  if (bindingOf(written.auth) !== kept.binding)
    throw invalid(`${at}: credential ${kept.id} is for something else, which cannot change`)
  const held = Object.keys(sealedOf(kept)) as SecretPart[]
  const dropped = held.filter((part) => written.secrets[part] === undefined)
  await credentialStore(tx).update(tenant, kept, {
    auth: { written: { ...written, dropped }, seal },
    display_name: display_name === undefined ? kept.display_name : display_name,
    metadata: metadata ?? kept.metadata,
    now,
  })
  await audited(writing, 'credential.rotated', kept.vault_id, kept.id)
}

type ActiveCredentialRow = RowOf<'vault_credentials'>

/** Locks the vault and the credential. A refresh locks no vault; it either waits or has stored its tokens already. */
async function activeRow(
  { tx, tenant }: VaultWriteContext,
  vault: string,
  id: string,
): Promise<ActiveCredentialRow> {
  const row = await credentialStore(tx).getForUpdate(tenant, vault, id)
  if (row.archived_at !== null) throw invalid(`credential ${id} is archived and cannot be changed`)
  return row
}

export async function createCredential(
  writing: VaultWriteContext,
  vault: string,
  input: CredentialCreate,
): Promise<Credential> {
  requireReferenceRight(referencesGiven(input.auth, 'auth'), writing.isAdmin)
  await openVault(writing, vault)
  return insert(writing, vault, { ...input, written: splitAuth(input.auth, 'auth', writing.now) })
}

export async function updateCredential(
  writing: VaultWriteContext,
  vault: string,
  id: string,
  input: CredentialUpdate,
): Promise<Credential> {
  const { tx, tenant, seal, now } = writing
  if (input.auth) requireReferenceRight(referencesGiven(input.auth, 'auth'), writing.isAdmin)
  await openVault(writing, vault)
  const kept = await activeRow(writing, vault, id)
  const auth = kept.auth
  const held = new Set(Object.keys(sealedOf(kept)) as SecretPart[])
  const written = input.auth && updateAuth({ auth, held }, input.auth, 'auth', now)
  const further = written ? newDestinations(auth, written, 'auth') : []
  const isRedirected = admitDestinations(further, writing.isAdmin)
  const isRotated = written !== undefined && Object.keys(written.secrets).length > 0
  const change = isRedirected ? 'redirected' : isRotated ? 'rotated' : 'updated'
  await audited(writing, `credential.${change}`, vault, id)
  return credentialStore(tx).update(tenant, kept, {
    ...(written ? { auth: { written, seal } } : {}),
    display_name: input.display_name === undefined ? kept.display_name : input.display_name,
    metadata: mergeMetadata(kept.metadata, input.metadata ?? {}),
    now,
  })
}

export async function archiveCredential(
  writing: VaultWriteContext,
  vault: string,
  id: string,
): Promise<Credential> {
  const { tx, tenant, now } = writing
  await rows(tx, 'vaults').getForUpdate(tenant, vault)
  const store = credentialStore(tx)
  const kept = await store.row(tenant, vault, id)
  if (kept.archived_at !== null) return store.get(tenant, vault, id)
  await audited(writing, 'credential.archived', vault, id)
  return store.archive(tenant, kept, now)
}

export async function deleteCredential(
  writing: VaultWriteContext,
  vault: string,
  id: string,
): Promise<void> {
  const { tx, tenant } = writing
  await rows(tx, 'vaults').getForUpdate(tenant, vault)
  await credentialStore(tx).remove(tenant, vault, id)
  await audited(writing, 'credential.deleted', vault, id)
}
