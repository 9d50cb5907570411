/** Changes of webhook endpoints, for both dialects of their routes. */
import type { WebhookEndpointCreate, WebhookEndpointUpdate } from '@steward/protocol/webhooks.ts'
import { iso } from '@steward/base/time.ts'
import { invalid } from '../../ground/core/errors.ts'
import type { Rules } from '../../ground/core/rules/rules.ts'
import type { Queries, TenantRef } from '../../ground/database/database.ts'
import { lockAdvisory } from '../../ground/database/lock.ts'
import type { Ground } from '../../ground/ground.ts'
import { deliveryStore } from './deliveries.ts'
import { newSecret } from './sign.ts'
import type { EndpointRow } from './store.ts'
import { buildEndpointRow, endpointStore, sealedSecrets, openSigningSecrets } from './store.ts'
import { changedEndpoint } from './update.ts'
import { rows } from '../../ground/database/rows.ts'

/** Bound of endpoints a workspace. */
export const mostEndpoints = 20
/** Time in which the old secret of a rotation also signs. */
const overlapMs = 24 * 60 * 60 * 1000

type OfEndpoint = TenantRef & { id: string }

/** `secret`: SECRET: never logged. */
type EndpointWithSecret = { row: EndpointRow; secret: string }

/** @throws PlatformError when the workspace has the most endpoints already. */
export async function insertEndpoint(tx: Queries, row: EndpointRow): Promise<void> {
  await lockAdvisory(tx, `${row.tenant_id}/webhook_endpoints`)
  if ((await endpointStore(tx).count(row.tenant_id)) >= mostEndpoints)
    throw invalid(`a workspace has at most ${mostEndpoints} webhook endpoints`)
  await rows(tx, 'webhook_endpoints').insert(row)
}

/** `limits`: what the workspace may name. */
export type EndpointDeps = Ground & { limits: { rules: Rules } }

export async function createEndpoint(
  { seal, clock, limits }: EndpointDeps,
  { db, tenant }: TenantRef,
  made: WebhookEndpointCreate,
): Promise<EndpointWithSecret> {
  await limits.rules.check(tenant, 'webhooks', [made.url], 'url')
  const secret = newSecret()
  const row = buildEndpointRow(tenant, made, { seal, secret, now: clock.now() })
  await db.write((tx) => insertEndpoint(tx, row))
  return { row, secret }
}

export async function updateEndpoint(
  { clock, limits }: EndpointDeps,
  { db, tenant, id }: OfEndpoint,
  change: WebhookEndpointUpdate,
): Promise<EndpointRow> {
  if (change.url !== undefined) await limits.rules.check(tenant, 'webhooks', [change.url], 'url')
  return db.write(async (tx) => {
    const now = clock.now()
    const kept = await rows(tx, 'webhook_endpoints').getForUpdate(tenant, id)
    const changed = changedEndpoint(kept, change, now)
    if (changed.disabled_at !== null) await deliveryStore(tx).drop(id, now)
    await rows(tx, 'webhook_endpoints').update(kept, changed)
    return changed
  })
}

export const deleteEndpoint = ({ clock }: Ground, { db, tenant, id }: OfEndpoint): Promise<void> =>
  db.write(async (tx) => {
    await rows(tx, 'webhook_endpoints').getForUpdate(tenant, id)
    await rows(tx, 'webhook_endpoints').remove(tenant, id)
    await deliveryStore(tx).drop(id, clock.now())
  })

export function rotateSecret(
  { seal, clock }: Ground,
  { db, tenant, id }: OfEndpoint,
): Promise<EndpointWithSecret> {
  const secret = newSecret()
  return db.write(async (tx) => {
    const now = clock.now()
    const kept = await rows(tx, 'webhook_endpoints').getForUpdate(tenant, id)
    const [previous = ''] = openSigningSecrets(seal, kept, now)
    const row = {
      ...kept,
      sealed_secrets: sealedSecrets(seal, { tenant, id }, { current: secret, previous }),
      previous_until: iso(now + overlapMs),
      updated_at: iso(now),
    }
    await rows(tx, 'webhook_endpoints').update(kept, row)
    return { row, secret }
  })
}
