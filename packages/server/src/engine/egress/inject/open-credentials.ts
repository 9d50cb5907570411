/** Opens the secrets of credentials: those that are sealed here, and those that stand in secret managers. */
import type { CredentialSecrets } from '../../../resources/vaults/auth.ts'
import type { CredentialRow } from '../../../resources/vaults/credentials.ts'
import type { SecretPart } from '../../../ground/database/tables/vaults.ts'
import { referencesOf, valueProblem } from '../../../resources/vaults/references.ts'
import type { CompanySecrets } from '../company-secrets/company-secrets.ts'

/** A secret manager gives no secret, or one that its credential cannot take. The message is for callers. */
export class UnreadableSecretError extends Error {
  override readonly name = 'UnreadableSecretError'
}

export type OpenerDeps = {
  /** The sealed secrets. */
  open: (row: CredentialRow) => CredentialSecrets
  companySecrets: Pick<CompanySecrets, 'read' | 'readAnew'>
}

export type CredentialOpener = ReturnType<typeof credentialOpener>

const isOfCalls = (part: SecretPart): boolean => part !== 'client_secret'

/** True for a secret of calls that another one may take the place of. */
export const hasReference = ({ auth }: CredentialRow): boolean =>
  referencesOf(auth).some(([part]) => isOfCalls(part))

export function credentialOpener({ open, companySecrets }: OpenerDeps) {
  async function withReferences(
    row: CredentialRow,
    session: string | null,
    { read, parts }: { read: CompanySecrets['read']; parts: (part: SecretPart) => boolean },
  ): Promise<CredentialSecrets> {
    const secrets = { ...open(row) }
    const { tenant_id: tenant, vault_id: vault, id: credential, auth } = row
    const reader = { tenant, session, vault, credential, actor: null }
    for (const [part, reference] of referencesOf(auth)) {
      if (!parts(part)) continue
      const found = await read(reader, reference)
      if (!found.ok) throw new UnreadableSecretError(found.message)
      const problem = valueProblem(auth.type, part, found.value)
      if (problem !== undefined)
        throw new UnreadableSecretError(
          `the secret ${reference.name} of ${reference.manager} cannot be used: ${problem}`,
        )
      secrets[part] = found.value
    }
    return secrets
  }

  return {
    /** Rejects with an `UnreadableSecretError`. `session`: whose call it is; null for none. */
    all: (row: CredentialRow, session: string | null): Promise<CredentialSecrets> =>
      withReferences(row, session, { read: companySecrets.read, parts: () => true }),

    /** What calls carry: the secret of a client goes to its token endpoint alone, when a token is renewed. */
    forCall: (row: CredentialRow, session: string | null): Promise<CredentialSecrets> =>
      withReferences(row, session, { read: companySecrets.read, parts: isOfCalls }),

    /** A token other than `token`, which an upstream has refused, where the secret manager has another one by now. */
    async rotated(
      row: CredentialRow,
      token: string,
      session: string | null,
    ): Promise<{ ok: true; token: string; refreshed: boolean } | { ok: false }> {
      try {
        const { token: next } = await withReferences(row, session, {
          read: companySecrets.readAnew,
          parts: isOfCalls,
        })
        if (next === undefined || next === token) return { ok: false }
        return { ok: true, token: next, refreshed: false }
      } catch (error) {
        if (error instanceof UnreadableSecretError) return { ok: false }
        throw error
      }
    },
  }
}
