/** The only place where seals of vaults are opened. Only server/src/engine/egress imports it. */
import type { Seal } from '../../ground/core/security/seal.ts'
import type { CredentialSecrets } from './auth.ts'
import type { CredentialRow } from './credentials.ts'
import { sealedContext } from './credentials.ts'
import type { SecretPart } from '../../ground/database/tables/vaults.ts'

/** Throws when a secret was sealed under another root secret, or for another row. */
export function openSecrets(
  seal: Seal,
  { tenant_id, id, sealed }: CredentialRow,
): CredentialSecrets {
  const parts = Object.entries(sealed) as [SecretPart, (typeof sealed)[SecretPart] & string][]
  return Object.fromEntries(
    parts.map(([part, value]) => [part, seal.open(value, sealedContext(tenant_id, id, part))]),
  )
}
