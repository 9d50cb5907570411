/** The secret by which another system runs a deployment: sealed, and shown when it is made. */
import { iso } from '@steward/base/time.ts'
import { invalid } from '../../ground/core/errors.ts'
import type { Seal } from '../../ground/core/seal.ts'
import type { Clock } from '@steward/base/time.ts'
import type { Database } from '../../ground/database/database.ts'
import { newSecret } from '../../tenants/webhooks/sign.ts'
import type { DeploymentRow } from './store.ts'
import { deploymentStore, triggerSecretPlace } from './store.ts'

type Deps = { seal: Seal; clock: Clock }
type Place = { db: Database; tenant: string }

/** How long the old secret of a rotation is valid beside the new one. */
const overlapMs = 24 * 60 * 60_000

/** Those that are valid now, the newest first. */
export function triggerSecretsOf(seal: Seal, row: DeploymentRow, now: number): string[] {
  const { sealed_trigger_secrets: sealed, previous_trigger_secret_until: until } = row
  if (!sealed) return []
  const { current, previous } = sealed
  const place = (name: string) => triggerSecretPlace(row.tenant_id, row.id, name)
  const overlaps = previous !== undefined && until !== null && Date.parse(until) > now
  return [
    seal.open(current, place('current')),
    ...(overlaps ? [seal.open(previous, place('previous'))] : []),
  ]
}

/** Makes the first secret, or the next one. */
export async function rotateTriggerSecret(
  { seal, clock }: Deps,
  { db, tenant }: Place,
  id: string,
): Promise<{ secret: string; previous_secret_expires_at: string | null }> {
  const secret = newSecret()
  const place = (name: string) => triggerSecretPlace(tenant, id, name)
  return db.write(async (tx) => {
    const now = clock.now()
    const kept = await deploymentStore(tx).take(tenant, id)
    if (kept.archived_at !== null)
      throw invalid(`deployment ${id} is archived and has no trigger any more`)
    const [previous] = triggerSecretsOf(seal, kept, now)
    const until = previous === undefined ? null : iso(now + overlapMs)
    await deploymentStore(tx).update(kept, {
      sealed_trigger_secrets: {
        current: seal.seal(secret, place('current')),
        ...(previous !== undefined && { previous: seal.seal(previous, place('previous')) }),
      },
      previous_trigger_secret_until: until,
    })
    return { secret, previous_secret_expires_at: until }
  })
}

/** A repeated call changes nothing. */
export async function deleteTriggerSecret({ db, tenant }: Place, id: string): Promise<void> {
  await db.write(async (tx) => {
    const kept = await deploymentStore(tx).take(tenant, id)
    const none = { sealed_trigger_secrets: null, previous_trigger_secret_until: null }
    await deploymentStore(tx).update(kept, none)
  })
}
