/** Reads and writes the rows of OAuth credentials for refreshes. */
import { auditStore } from '../../../tenants/audit/store.ts'
import type { RowLease } from '../../../ground/database/row-lease.ts'
import { rowLease } from '../../../ground/database/row-lease.ts'
import type { Ground } from '../../../ground/ground.ts'
import type { CredentialRow } from '../../../resources/vaults/credentials.ts'
import { credentialStore, sealSecrets } from '../../../resources/vaults/credentials.ts'
import { openSecrets } from '../../../resources/vaults/open-credential.ts'
import type { CredentialSecrets } from '../../../resources/vaults/auth.ts'
import type { OAuthRow } from '../policy/credential.ts'
import { isOAuth } from '../policy/credential.ts'

/** SECRET: never logged. There is always an access token. */
export type OAuthSecrets = CredentialSecrets & { access_token: string }

export type OAuthRows = ReturnType<typeof oauthRows>

export function oauthRows({ databases, seal, clock }: Ground) {
  return {
    /** Undefined when the credential is archived or deleted. */
    async read(tenant: string, id: string): Promise<OAuthRow | undefined> {
      const { read } = await databases.open(tenant)
      const row = await credentialStore(read).active(tenant, id)
      return row && isOAuth(row) ? row : undefined
    },
    open(row: OAuthRow): OAuthSecrets {
      const { access_token, ...secrets } = openSecrets(seal, row)
      if (access_token === undefined) throw new Error(`credential ${row.id} has no access token`)
      return { ...secrets, access_token }
    },
    /** The right to refresh the credential. */
    async lease({ tenant_id, id }: OAuthRow): Promise<RowLease> {
      return rowLease(await databases.open(tenant_id), 'vault_credentials', { tenant_id, id })
    },
    /** Resolves when the tokens are durable. Returns false when the row has another revision. */
    async store(row: OAuthRow, secrets: OAuthSecrets, expires_at: string | null): Promise<boolean> {
      const { tenant_id: tenant, vault_id: vault, id: credential, revision } = row
      const sealed = sealSecrets(seal, { tenant, id: credential }, secrets)
      const next = { auth: { ...row.auth, expires_at }, sealed, now: clock.now() }
      const database = await databases.open(tenant)
      return database.write(async (tx) => {
        const at = { id: credential, revision }
        if (!(await credentialStore(tx).rotate(tenant, at, next))) return false
        const change = 'credential.refreshed'
        const by = { now: next.now, by: {} }
        await auditStore(tx).changed(tenant, { change, of: { vault, credential }, ...by })
        return true
      })
    },
  }
}

/** Writes an audit row for a failed refresh. */
export const refreshFailureChange = async (
  { databases, clock }: Ground,
  { tenant_id: tenant, vault_id: vault, id: credential }: CredentialRow,
): Promise<void> => {
  const change = 'credential.refresh_failed'
  const row = { change, of: { vault, credential }, by: {}, now: clock.now() } as const
  const database = await databases.open(tenant)
  await database.write((tx) => auditStore(tx).changed(tenant, row))
}
