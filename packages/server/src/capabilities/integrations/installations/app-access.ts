/**
 * Access of agents to the provider with a token of the app. The token lies in a vault of the publication, and each
 * session of the publication has this vault. The egress adds the token outside of the sandbox, where the agent sees a
 * placeholder.
 */
import type { AuthCreate } from '@steward/protocol/credential-auth.ts'
import type { Ground } from '../../../ground/ground.ts'
import { invalid } from '../../../ground/core/errors.ts'
import type { Queries } from '../../../ground/database/database.ts'
import type { VaultWriteContext } from '../../../resources/vaults/write.ts'
import { archiveVault, createVault, updateVault } from '../../../resources/vaults/write.ts'
import type { GitRights } from '../code.ts'
import type { App, AppToken } from './app.ts'
import { getApp } from './apps.ts'
import type { FoundToken, TokenDeps } from './token.ts'
import { findInstallationToken } from './token.ts'
import { displayNames } from '../kinds.ts'
import type { InstallationRow, PublicationRow } from '../store.ts'
import type { JobContext } from '../job-context.ts'
import { rows } from '../../../ground/database/rows.ts'

/** The vault's token is renewed this long before `expiresMs`. */
const marginMs = 12 * 60_000
/** The longest total wait for another process, longer than one exchange with a provider. */
const [waitMs, mostWaits] = [250, 80]

/** Returns the publication with a vault whose token is still valid. Throws when the provider gives no token. */
export async function withAppAccess(
  deps: TokenDeps,
  context: JobContext,
  publication: PublicationRow,
): Promise<PublicationRow> {
  const { spec, vault_id, token_due_ms } = publication
  const isFresh = vault_id !== null && (token_due_ms === null || token_due_ms > deps.clock.now())
  return !spec.app_access || isFresh ? publication : renewAccess(deps, context, publication)
}

/** A new token of the publication's app: for git in one repository, or for calls to all that the publication lists. */
export async function tokenFor(
  deps: TokenDeps,
  { db, tenant, signal }: JobContext,
  {
    integration,
    installation_id,
    spec,
  }: Pick<PublicationRow, 'integration' | 'installation_id' | 'spec'>,
  git?: GitRights,
): Promise<Extract<AppToken, { kind: 'token' }>> {
  const app = getApp(deps.apps, integration)
  const row = await rows(db.read, 'installations').find(tenant, installation_id ?? '')
  if (row?.status !== 'active') throw invalid(`${integration}: install the app again`)
  const provider = { send: deps.sendToProvider, signal, nowMs: deps.clock.now() }
  const named = { externalId: row.external_id, externalName: row.external_name }
  const found: FoundToken = app.narrowToken
    ? await app.narrowToken(named, spec, provider, git)
    : await tokenInTime(deps, { db, tenant, signal }, row)
  if (found.kind === 'token') return found
  if (found.kind === 'refused')
    throw invalid(`${integration}: gives no token for agents; look at what the app may do there`)
  throw new Error(`${integration} gave no token: ${'reason' in found ? found.reason : found.kind}`)
}

/** Waits while another process is renewing the token. */
export async function tokenInTime(
  deps: TokenDeps,
  { db, tenant, signal }: JobContext,
  row: InstallationRow,
): Promise<FoundToken> {
  let found = await findInstallationToken(deps, db, row, { signal })
  for (let n = 0; found.kind === 'held' && n < mostWaits && !signal.aborted; n++) {
    await deps.clock.sleep(waitMs, signal)
    const newer = await rows(db.read, 'installations').find(tenant, row.id)
    found = await findInstallationToken(deps, db, newer ?? row, { signal })
  }
  return found
}

/**
 * Renews the token in the vault. An archived or deleted vault stays as it is: the publication then loses its access.
 */
export async function renewAccess(
  deps: TokenDeps,
  context: JobContext,
  publication: PublicationRow,
): Promise<PublicationRow> {
  const { db, tenant } = context
  const { token, expiresMs } = await tokenFor(deps, context, publication)
  const { access } = getApp(deps.apps, publication.integration)
  return db.write(async (tx) => {
    // The installation is locked before the publication, in the same order as when an installation ends. No vault is
    // created after that end.
    const installation = await rows(tx, 'installations').findForUpdate(
      tenant,
      publication.installation_id ?? '',
    )
    const kept = await rows(tx, 'publications').getForUpdate(tenant, publication.id)
    if (installation?.status !== 'active' || kept.installation_id !== installation.id)
      throw invalid(`${kept.integration}: install the app again`)
    const writing = writingFor(deps, tx, tenant)
    const credentials = credentialsOf(access, token)
    const token_due_ms = expiresMs === undefined ? null : expiresMs - marginMs
    if (kept.vault_id === null) {
      const vault = await createVault(writing, {
        display_name: `${displayNames[kept.integration]} for ${kept.id}`,
        metadata: { publication_id: kept.id },
        credentials,
      })
      return rows(tx, 'publications').update(kept, { vault_id: vault.id, token_due_ms })
    }
    const vault = await rows(tx, 'vaults').findForUpdate(tenant, kept.vault_id)
    const isOpen = vault?.archived_at === null
    if (isOpen) await updateVault(writing, kept.vault_id, { credentials })
    return rows(tx, 'publications').update(kept, { token_due_ms: isOpen ? token_due_ms : null })
  })
}

/** Archives the vault, which removes its secrets at once. The caller has locked the publication. */
export async function endAccess(
  deps: Ground,
  tx: Queries,
  { tenant_id: tenant, vault_id }: PublicationRow,
): Promise<void> {
  const isThere = vault_id !== null && (await rows(tx, 'vaults').findForUpdate(tenant, vault_id))
  if (isThere) await archiveVault(writingFor(deps, tx, tenant), vault_id)
}

const writingFor = ({ seal, clock }: Ground, tx: Queries, tenant: string): VaultWriteContext => ({
  tx,
  tenant,
  seal,
  keyId: null,
  isAdmin: false,
  now: clock.now(),
})

function credentialsOf({ variable, hosts, mcpServer }: App['access'], token: string) {
  const variableAuth: AuthCreate = {
    type: 'environment_variable',
    secret_name: variable,
    secret_value: token,
    networking: { type: 'limited', allowed_hosts: [...hosts] },
    injection_location: { header: true, body: false },
  }
  const serverAuth: AuthCreate[] =
    mcpServer === null ? [] : [{ type: 'static_bearer', token, mcp_server_url: mcpServer }]
  return [variableAuth, ...serverAuth].map((auth) => ({ auth }))
}
