/** The secret with which another system runs a deployment. It is sealed, and shown only when it is created. */
import { iso } from '@steward/base/time.ts'
import { invalid } from '../../ground/core/errors.ts'
import type { Seal } from '../../ground/core/security/seal.ts'
import type { TenantRef } from '../../ground/database/database.ts'
import type { Ground } from '../../ground/ground.ts'
import { newSecret } from '../../tenants/webhooks/sign.ts'
import type { DeploymentRow } from './store.ts'
import { triggerSecretContext } from './store.ts'
import { rows } from '../../ground/database/rows.ts'

/** Time in which the old secret of a rotation stays valid. */
const overlapMs = 24 * 60 * 60_000

/** The secrets that are valid now, newest first. */
export function openTriggerSecrets(seal: Seal, row: DeploymentRow, now: number): string[] {
  const { sealed_trigger_secrets: sealed, previous_trigger_secret_until: until } = row
  if (!sealed) return []
  const { current, previous } = sealed
  const contextOf = (name: string) => triggerSecretContext(row.tenant_id, row.id, name)
  const overlaps = previous !== undefined && until !== null && Date.parse(until) > now
  return [
    seal.open(current, contextOf('current')),
    ...(overlaps ? [seal.open(previous, contextOf('previous'))] : []),
  ]
}

/** Creates the first secret, or rotates it. */
export async function rotateTriggerSecret(
  { seal, clock }: Ground,
  { db, tenant }: TenantRef,
  id: string,
): Promise<{ secret: string; previous_secret_expires_at: string | null }> {
  const secret = newSecret()
  const contextOf = (name: string) => triggerSecretContext(tenant, id, name)
  return db.write(async (tx) => {
    const now = clock.now()
    const kept = await rows(tx, 'deployments').getForUpdate(tenant, id)
    if (kept.archived_at !== null)
      throw invalid(`deployment ${id} is archived and has no trigger any more`)
    const [previous] = openTriggerSecrets(seal, kept, now)
    const until = previous === undefined ? null : iso(now + overlapMs)
    await rows(tx, 'deployments').update(kept, {
      sealed_trigger_secrets: {
        current: seal.seal(secret, contextOf('current')),
        ...(previous !== undefined && { previous: seal.seal(previous, contextOf('previous')) }),
      },
      previous_trigger_secret_until: until,
    })
    return { secret, previous_secret_expires_at: until }
  })
}

/** Removes the secrets. A repeated call changes nothing. */
export async function deleteTriggerSecret({ db, tenant }: TenantRef, id: string): Promise<void> {
  await db.write(async (tx) => {
    const kept = await rows(tx, 'deployments').getForUpdate(tenant, id)
    const none = { sealed_trigger_secrets: null, previous_trigger_secret_until: null }
    await rows(tx, 'deployments').update(kept, none)
  })
}
