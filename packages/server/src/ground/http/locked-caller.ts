/** Locks the rights of a caller within a unit. */
import { forbidden } from '../core/errors.ts'
import type { Queries } from '../database/database.ts'
import { findRoleForShare } from '../database/lock.ts'
import type { Principal } from './principal.ts'
import type { CallerKind } from './permissions.ts'
import { mayCall } from './principal.ts'

/**
 * The caller with the current role, which no other transaction changes until this one ends. Throws for a person that
 * has lost the role: a grant of rights must not be written after the removal of the person that grants them.
 */
export async function lockCaller(
  tx: Queries,
  principal: Principal,
  needed: CallerKind,
): Promise<Principal> {
  if (principal.kind !== 'user' && principal.kind !== 'login') return principal
  if (principal.kind === 'login' && principal.isSubject) return principal
  const role = (await findRoleForShare(tx, principal.tenant, principal.userId)) ?? null
  const held: Principal | undefined =
    principal.kind === 'user'
      ? { ...principal, role }
      : role === null
        ? undefined
        : { ...principal, role }
  if (!held || !mayCall({ method: 'post', callers: [needed], answer: undefined }, held))
    throw forbidden('your role in the workspace has changed and no longer allows this')
  return held
}
