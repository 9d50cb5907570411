/**
 * Takes the deliveries of an app. All external workspaces use one address: first the signature is checked, then the
 * installation is found, then each publication that the delivery concerns gets a row.
 */
import { setImmediate } from 'node:timers/promises'
import type { IntegrationId } from '@steward/protocol/integrations.ts'
import { unauthorized } from '../../../ground/core/errors.ts'
import { getApp } from '../installations/apps.ts'
import { changeInstallation } from '../installations/installations.ts'
import type { RawDelivery } from '../integration.ts'
import { externalAccounts } from '../installations/external-accounts.ts'
import type { ReceiveDeps } from './receive.ts'
import { keepDelivery } from './receive.ts'
import { integrationStore } from '../store.ts'
import { openIfInUse } from '../../../tenants/workspaces/in-use.ts'
import type { Apps } from '../installations/apps.ts'

type AppDeliveryDeps = ReceiveDeps & { apps: Apps }

/**
 * Returns the answer that the provider expects, if any. A delivery for an unknown installation is accepted and dropped,
 * because after a refusal the provider could stop all deliveries.
 */
export async function receiveForApp(
  deps: AppDeliveryDeps,
  {
    integration,
    delivery,
    address,
  }: { integration: IntegrationId; delivery: RawDelivery; address: string },
): Promise<string | undefined> {
  const { clock, limits } = deps
  const { adapter, secrets } = getApp(deps.apps, integration)
  const check = adapter.check(delivery, secrets, clock.now())
  if (check.kind === 'refused') {
    await limits.admit('failures', address)
    throw unauthorized(`the delivery is ${check.reason}`)
  }
  const challenge = adapter.challengeOf(delivery.body)
  if (challenge !== undefined) return challenge
  await keepGenuine(deps, { integration, id: check.id, body: delivery.body })
  return undefined
}

/** `id`: the same for repeated deliveries. */
type GenuineDelivery = { integration: IntegrationId; id: string; body: Uint8Array }

/** Does nothing for an external workspace without an installation. */
export async function keepGenuine(
  deps: AppDeliveryDeps,
  { integration, id, body }: GenuineDelivery,
): Promise<void> {
  const { databases, limits } = deps
  const { adapter } = getApp(deps.apps, integration)
  const external = adapter.workspaceOf(body)
  const { read } = databases.control
  const account =
    external === undefined
      ? undefined
      : await externalAccounts(read).accountOf(integration, external)
  if (!account) return
  const { tenant_id: tenant, installation_id: installation } = account
  const change = adapter.changeOf(body)
  if (change !== undefined) {
    await changeInstallation(deps, account, change)
    return
  }
  const db = await openIfInUse(databases, tenant)
  if (!db) return
  const publications = await integrationStore(db.read).publicationsOf(tenant, installation)
  const incomingFor = adapter.read(body)
  for (const publication of publications) {
    // Others have their turn between publications: a delivery may be of 4 MiB.
    await setImmediate()
    const incoming = incomingFor(publication.spec)
    const isMeant = incoming.kind !== 'ignored' || incoming.reason === 'stranger'
    if (!isMeant) continue
    // Deliveries of strangers do not count against the limits of the workspace.
    const isHeard = incoming.kind !== 'ignored'
    const verdict = isHeard ? await limits.requests?.count(tenant, 'sessions') : undefined
    const isTooMuch = verdict !== undefined && !verdict.isAdmitted
    await keepDelivery(deps, db, publication, {
      external: id,
      incoming: isTooMuch
        ? { kind: 'ignored', why: 'the workspace makes too many requests' }
        : incoming,
    })
  }
}
