/** Creates, pauses and deletes publications. */
import { iso } from '@steward/base/time.ts'
import type {
  IntegrationId,
  ShownPublication,
  PublicationCreate,
} from '@steward/protocol/integrations.ts'
import { invalid } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/ids.ts'
import type { Seal } from '../../ground/core/seal.ts'
import type { Database } from '../../ground/database/database.ts'
import { agentStore } from '../../resources/agents/store.ts'
import { checkRequest } from '../../sessions/check-request.ts'
import type { SessionRequest } from '../../sessions/create.ts'
import type { Opening } from '../../sessions/open.ts'
import { newSecret } from '../../tenants/webhooks/sign.ts'
import type { PublicationRow } from './store.ts'
import { integrationStore, publicationSecretPlace, showPublication } from './store.ts'

type Place = { db: Database; tenant: string }

export type PublicationDeps = Opening & {
  /** Where other systems reach this service; as the caller does, where it is left out. */
  publicUrl: string | undefined
}

/** Where deliveries for a publication of its own come. */
export const deliveryUrlOf = (
  base: string,
  { tenant_id, integration, id }: Pick<PublicationRow, 'tenant_id' | 'integration' | 'id'>,
): string => `${base}/v1/ext/integrations/${integration}/webhook/${id}?workspace=${tenant_id}`

/** Of another kind of integration than the path names, it is not there. */
export async function publicationOf(
  read: Parameters<typeof integrationStore>[0],
  { tenant, integration, id }: { tenant: string; integration: IntegrationId; id: string },
): Promise<PublicationRow> {
  const row = await integrationStore(read).findPublication(tenant, id)
  return row?.integration === integration ? row : integrationStore(read).publication(tenant, '')
}

/** The session that a thread of the publication begins with. */
export const sessionRequestOf = (
  { id, integration, agent_id, agent_version, environment_id, spec }: PublicationRow,
  { scope, events }: { scope: string; events: SessionRequest['initial_events'] },
): SessionRequest => ({
  agent: { type: 'agent', id: agent_id, ...(agent_version !== null && { version: agent_version }) },
  environment_id,
  title: scope.slice(0, 256).toWellFormed(),
  metadata: { integration, publication_id: id, scope },
  initial_events: events,
  vault_ids: spec.vault_ids,
})

export async function createPublication(
  deps: PublicationDeps,
  place: Place,
  {
    integration,
    origin,
    body,
  }: { integration: IntegrationId; origin: string; body: PublicationCreate },
): Promise<ShownPublication & { secret: string }> {
  const { db, tenant } = place
  if (integration !== 'webhook')
    throw invalid(`${integration}: nothing of this integration is installed`)
  if (!body.webhook) throw invalid('webhook: is required for the integration webhook')
  const chosen = typeof body.agent === 'string' ? { id: body.agent } : body.agent
  await agentStore(db.read).get(tenant, chosen.id)
  const id = newId('publication')
  const now = deps.clock.now()
  const secret = newSecret()
  const row: PublicationRow = {
    tenant_id: tenant,
    id,
    integration,
    agent_id: chosen.id,
    agent_version: ('version' in chosen && chosen.version) || null,
    environment_id: body.environment_id,
    spec: { vault_ids: body.vault_ids ?? [], webhook: body.webhook },
    sealed_secrets: { signing: sealedSigning(deps.seal, { tenant, id }, secret) },
    status: 'live',
    metadata: body.metadata ?? {},
    created_at: iso(now),
    updated_at: iso(now),
  }
  await checkRequest(deps, place, sessionRequestOf(row, { scope: 'check', events: [] }))
  await db.write((tx) => integrationStore(tx).insertPublication(row))
  const url = deliveryUrlOf(deps.publicUrl ?? origin, row)
  return { ...showPublication(row, url), secret }
}

const sealedSigning = (
  seal: Seal,
  { tenant, id }: { tenant: string; id: string },
  secret: string,
) => seal.seal(secret, publicationSecretPlace(tenant, id, 'signing'))

export const signingSecretsOf = (
  seal: Seal,
  { tenant_id, id, sealed_secrets }: PublicationRow,
): string[] =>
  sealed_secrets
    ? [seal.open(sealed_secrets.signing, publicationSecretPlace(tenant_id, id, 'signing'))]
    : []

/** Going on, its threads are looked at: what was not told is told. */
export async function setPaused(
  { clock }: Pick<PublicationDeps, 'clock'>,
  { db, tenant }: Place,
  { integration, id }: { integration: IntegrationId; id: string },
  isPaused: boolean,
): Promise<PublicationRow> {
  return db.write(async (tx) => {
    const now = clock.now()
    await publicationOf(tx, { tenant, integration, id })
    const kept = await integrationStore(tx).takePublication(tenant, id)
    const status = isPaused ? 'paused' : 'live'
    if (kept.status === status) return kept
    if (!isPaused) await integrationStore(tx).wakeThreads(tenant, id, now)
    return integrationStore(tx).updatePublication(kept, { status, updated_at: iso(now) })
  })
}

export const deletePublication = (
  { db, tenant }: Place,
  { integration, id }: { integration: IntegrationId; id: string },
): Promise<void> =>
  db.write(async (tx) => {
    await publicationOf(tx, { tenant, integration, id })
    await integrationStore(tx).removePublication(tenant, id)
  })
