/** The rights of a caller within a unit. */
import { forbidden } from '../core/errors.ts'
import type { Queries } from '../database/database.ts'
import { lockRole } from '../database/lock.ts'
import type { CallerKind, Principal } from './principal.ts'
import { mayCall } from './principal.ts'

/**
 * The caller with the role of this moment, which no other transaction changes until this one ends. Throws for a person who has lost
 * the role: what gives rights away must not outlive the removal of its maker, however close together the two come.
 */
export async function lockCaller(
  tx: Queries,
  principal: Principal,
  needed: CallerKind,
): Promise<Principal> {
  if (principal.kind !== 'user') return principal
  const role = (await lockRole(tx, principal.tenant, principal.userId)) ?? null
  const held = { ...principal, role }
  if (!mayCall({ method: 'post', callers: [needed], answer: undefined }, held))
    throw forbidden('your role in the workspace has changed, and does not open this any more')
  return held
}
