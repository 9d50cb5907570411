/**
 * Takes the deliveries of an app. All external workspaces use one address: first the signature is checked, then the
 * installation is found, then each publication that the delivery concerns gets a row.
 */
import { setImmediate } from 'node:timers/promises'
import type { IntegrationId } from '@steward/protocol/integrations.ts'
import { unauthorized } from '../../../ground/core/errors.ts'
import { getApp } from '../installations/apps.ts'
import { changeInstallation } from '../installations/installations.ts'
import type { Incoming, RawDelivery } from '../integration.ts'
import { externalAccounts } from '../installations/external-accounts.ts'
import { hearFollowUps } from './follow-ups.ts'
import { moveToThreads } from './own-pull-requests.ts'
import type { ReceiveDeps } from './receive.ts'
import { isAsked, keepDelivery } from './receive.ts'
import { tellsRefusals } from './refusals.ts'
import type { ReadDelivery } from './routing.ts'
import { routeByName } from './routing.ts'
import type { App } from '../installations/app.ts'
import type { PublicationRow } from '../store.ts'
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
  const number = adapter.numberOf(delivery)?.slice(0, mostNumber)
  await keepGenuine(deps, { integration, id: check.id, body: delivery.body, number })
  return undefined
}

const mostNumber = 128

/** `id`: the same for repeated deliveries. `number`: what the provider's own page calls this one. */
type GenuineDelivery = {
  integration: IntegrationId
  id: string
  body: Uint8Array
  number?: string | undefined
}

/** Does nothing for an external workspace without an installation. */
export async function keepGenuine(
  deps: AppDeliveryDeps,
  { integration, id, body, number }: GenuineDelivery,
): Promise<void> {
  const { databases, limits } = deps
  const { adapter } = getApp(deps.apps, integration)
  const external = adapter.workspaceOf(body)
  const account =
    external === undefined
      ? undefined
      : await externalAccounts(databases.control.read).accountOf(integration, external)
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
  const read = await readForAll(adapter.read(body), publications)
  const routed = await routeByName(db, await hearFollowUps(db, await moveToThreads(db, read)))
  const teller = tellerOf(routed)
  for (const each of routed) {
    const { publication, incoming } = each
    if (!isListed(incoming) && each !== teller) continue
    // Deliveries of strangers do not count against the limits of the workspace, nor of whom that is not known yet.
    const isOurs = incoming.kind !== 'ignored' && !isAsked(incoming)
    const verdict = isOurs ? await limits.requests?.count(tenant, 'sessions') : undefined
    const isTooMuch = verdict !== undefined && !verdict.isAdmitted
    await keepDelivery(deps, db, publication, {
      external: id,
      number,
      incoming: isTooMuch
        ? { kind: 'ignored', why: 'the workspace makes too many requests' }
        : incoming,
      refusal: incoming.kind === 'ignored' && each === teller ? incoming.refusal : undefined,
    })
  }
}

async function readForAll(
  incomingFor: ReturnType<App['adapter']['read']>,
  publications: readonly PublicationRow[],
): Promise<ReadDelivery[]> {
  const read: ReadDelivery[] = []
  for (const publication of publications) {
    // Others have their turn between publications: a delivery may be of 4 MiB.
    await setImmediate()
    const { spec, known_ids: known } = publication
    read.push({ publication, incoming: incomingFor({ spec, known }) })
  }
  return read
}

const isListed = (incoming: Incoming): boolean =>
  incoming.kind !== 'ignored' || incoming.reason === 'stranger' || incoming.reason === 'unnamed'

/** The publication that tells a person why nobody hears, where none hears. */
function tellerOf(read: readonly ReadDelivery[]): ReadDelivery | undefined {
  if (read.some(({ incoming }) => incoming.kind !== 'ignored')) return undefined
  const all = ['stranger', 'unnamed', 'unrelated'].map((reason) =>
    read.find(
      ({ publication, incoming }) =>
        incoming.kind === 'ignored' &&
        incoming.reason === reason &&
        incoming.refusal !== undefined &&
        tellsRefusals(publication),
    ),
  )
  return all.find((found) => found !== undefined)
}
