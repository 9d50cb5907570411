/** The end of a login: its tokens open nothing from the commit on, in every process. */
import type { Clock } from '@steward/base/time.ts'
import type { Queries } from '../../../ground/database/database.ts'
import { notifyOfKey } from '../../api-keys/authenticate.ts'
import { loginStore } from '../../api-keys/logins.ts'
import { personActor } from '../../people/audit-lines.ts'
import { oauthStore } from './store.ts'

/** `reason`: a sentence for the audit. */
export async function endLogin(
  tx: Queries,
  { tenant, keyId, reason, clock }: { tenant: string; keyId: string; reason: string; clock: Clock },
): Promise<void> {
  const login = await loginStore(tx).findForUpdate(tenant, keyId)
  if (!login) return
  const actor = login.created_by === null ? undefined : await personActor(tx, login.created_by)
  const options = { now: clock.now(), reason, ...(actor && { actor }) }
  await loginStore(tx).end(tenant, keyId, options)
  await oauthStore(tx).removeTokens(tenant, keyId)
  notifyOfKey(tx, login)
}
