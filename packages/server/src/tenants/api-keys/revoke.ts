import { conflict, forbidden, notFound } from '../../ground/core/errors.ts'
import type { Queries } from '../../ground/database/database.ts'
import { notifyOfKey } from './authenticate.ts'
import { apiKeyStore } from './store.ts'

/**
 * Returns the hash of the revoked key. Only admins revoke an admin key, and the last valid one of a workspace stays:
 * nobody there could create another.
 */
export async function revokeKey(
  tx: Queries,
  tenant: string,
  id: string,
  /** `actor`: the id of the person or the key. */
  by: { admin: boolean; actor: string; now: number; isFinal?: boolean },
): Promise<void> {
  const store = apiKeyStore(tx)
  const admins = await store.adminsForUpdate(tenant, by.now)
  const key = await store.active(tenant, id)
  if (!key) throw notFound('api key', id)
  if (key.kind === 'oauth' && !by.admin && key.created_by !== by.actor)
    throw forbidden('only its person or an admin of the workspace ends a login')
  if (key.admin === 1) {
    if (!by.admin) throw forbidden('only a workspace-admin key revokes a workspace-admin key')
    if (admins.every((admin) => admin === id))
      throw conflict(
        'this is the last valid workspace-admin key of its workspace: create another one first, with {"admin": true}',
      )
  }
  if (by.isFinal ?? true) await store.revoke(tenant, id, by.now)
  else await store.deactivate(tenant, id, by.now)
  notifyOfKey(tx, key)
}
