/** Admits references before the unit of their write: the rights of the caller, then one read of each. */
import type { Principal } from '../../ground/http/principal.ts'
import { actorOf, isAdmin } from '../../ground/http/principal.ts'
import { forbidden } from '../../ground/core/errors.ts'
import type { GivenReference } from './references.ts'

/** Reads what references name, before they are stored. Throws for the first one that gives no usable secret. */
export type TryReferences = (
  by: { tenant: string; actor: string; vault: string | null; credential: string | null },
  given: readonly GivenReference[],
) => Promise<void>

/**
 * To name a secret is not to know it: a caller could send a secret of the company to a host of its own. That is for
 * workspace admins. Throws `forbidden`.
 */
export function requireReferenceRight(given: readonly GivenReference[], isByAdmin: boolean): void {
  const [first] = given
  if (first === undefined || isByAdmin) return
  throw forbidden(
    `${first.at}: a secret_reference is for workspace admins: use a workspace-admin key, or give the secret itself`,
  )
}

export const referenceAdmission =
  (tryReferences: TryReferences) =>
  async (
    { tenant, principal }: { tenant: string; principal: Principal },
    given: readonly GivenReference[],
    { vault = null, credential = null }: { vault?: string | null; credential?: string | null } = {},
  ): Promise<void> => {
    if (given.length === 0) return
    requireReferenceRight(given, isAdmin(principal))
    await tryReferences({ tenant, actor: actorOf(principal), vault, credential }, given)
  }
