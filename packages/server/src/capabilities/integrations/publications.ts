/** Creates, pauses and deletes publications. */
import { iso } from '@steward/base/time.ts'
import { integrationIds } from '@steward/protocol/integrations.ts'
import { endAccess } from './installations/app-access.ts'
import type { Apps } from './installations/apps.ts'
import { getApp } from './installations/apps.ts'
import type {
  CodeSource,
  PublicationSpec,
  IntegrationId,
  ShownPublication,
  PublicationCreate,
} from '@steward/protocol/integrations.ts'
import type { Ground } from '../../ground/ground.ts'
import { invalid, notFound } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/text/ids.ts'
import type { Seal } from '../../ground/core/security/seal.ts'
import type { Queries, Reads, TenantRef } from '../../ground/database/database.ts'
import { agentStore } from '../../resources/agents/store.ts'
import { checkRequest } from '../../sessions/check-request.ts'
import type { SessionRequest } from '../../sessions/create.ts'
import type { OpenSessionDeps } from '../../sessions/open.ts'
import { newSecret } from '../../tenants/webhooks/sign.ts'
import type { InstallationRow, PublicationRow } from './store.ts'
import { integrationStore, publicationSecretContext, showPublication } from './store.ts'
import { checkOverlaps } from './overlaps.ts'
import { codeHostOf } from './hosted-repository.ts'
import { sameName } from './deliveries/listed-names.ts'
import { notifyIntegrations } from './topics.ts'
import { rows } from '../../ground/database/rows.ts'
import { checkNotHeld } from '../../ground/database/holds.ts'

/** The most publications of an installation. Each delivery of the installation is read for all of them. */
export const mostPublications = 100

export type PublicationDeps = OpenSessionDeps & {
  apps: Apps
  /** The URL at which other systems reach this service. Without it, the host of the caller's request is used. */
  publicUrl: string | undefined
}

/** The URL for deliveries of the publication. */
export const deliveryUrlOf = (
  base: string,
  { tenant_id, integration, id }: PublicationRow,
): string =>
  integration === 'webhook'
    ? `${base}/v1/ext/integrations/webhook/webhook/${id}?workspace=${tenant_id}`
    : `${base}/v1/ext/integrations/${integration}/webhook`

/** The publication as it is shown, with its external workspace. */
export async function shownWith(
  { publicUrl }: Pick<PublicationDeps, 'publicUrl'>,
  read: Reads,
  { row, origin }: { row: PublicationRow; origin: string },
): Promise<ShownPublication> {
  const { tenant_id, installation_id: id } = row
  const installation =
    id === null ? undefined : await rows(read, 'installations').find(tenant_id, id)
  const deliveryUrl = deliveryUrlOf(publicUrl ?? origin, row)
  return showPublication(row, { deliveryUrl, installation })
}

/** Throws when the publication does not exist, or belongs to another integration than the path names. */
export async function getPublication(
  read: Parameters<typeof integrationStore>[0],
  { tenant, integration, id }: { tenant: string; integration: IntegrationId; id: string },
): Promise<PublicationRow> {
  const row = await rows(read, 'publications').find(tenant, id)
  if (row?.integration !== integration) throw notFound('publication', id)
  return row
}

/** The request for a new session of a thread. `readsOnly`: the session gets no vault. */
export const buildThreadSessionRequest = (
  { id, integration, agent_id, agent_version, environment_id, spec, vault_id }: PublicationRow,
  {
    scope,
    events,
    readsOnly = false,
  }: { scope: string; events: SessionRequest['initial_events']; readsOnly?: boolean },
): SessionRequest => ({
  agent: { type: 'agent', id: agent_id, ...(agent_version !== null && { version: agent_version }) },
  environment_id,
  title: scope.slice(0, 256).toWellFormed(),
  metadata: { integration, publication_id: id, scope },
  initial_events: events,
  vault_ids: readsOnly ? [] : [...spec.vault_ids, ...(vault_id === null ? [] : [vault_id])],
})

export async function createPublication(
  deps: PublicationDeps,
  ref: TenantRef,
  {
    integration,
    origin,
    body,
  }: { integration: IntegrationId; origin: string; body: PublicationCreate },
): Promise<ShownPublication & { secret: string | null }> {
  const { db, tenant } = ref
  const chosen = typeof body.agent === 'string' ? { id: body.agent } : body.agent
  await agentStore(db.read).get(tenant, chosen.id)
  const id = newId('publication')
  const now = deps.clock.now()
  const spec = {
    vault_ids: body.vault_ids ?? [],
    app_access: body.app_access,
    name: body.name,
    tell_refusals: body.tell_refusals,
    follow_ups: body.follow_ups,
    automations: body.automations,
    code: body.code,
    webhook: body.webhook,
    github: body.github,
    linear: body.linear,
    slack: body.slack,
  }
  if (body.code) await checkCode(db.read, tenant, { integration, code: body.code })
  const answers = body.webhook?.answer_url
  if (answers) await deps.limits.rules.check(tenant, 'webhooks', [answers], 'webhook.answer_url')
  const installation = await installationFor(deps, ref, { integration, body, spec })
  const secret = installation === null ? newSecret() : null
  const row: PublicationRow = {
    tenant_id: tenant,
    id,
    integration,
    installation_id: installation,
    agent_id: chosen.id,
    agent_version: ('version' in chosen && chosen.version) || null,
    environment_id: body.environment_id,
    vault_id: null,
    token_due_ms: null,
    spec,
    sealed_secrets:
      secret === null ? null : { signing: sealedSigning(deps.seal, { tenant, id }, secret) },
    status: 'live',
    metadata: body.metadata ?? {},
    known_ids: null,
    created_at: iso(now),
    updated_at: iso(now),
  }
  const resources = repositoriesToCheck(deps, row)
  const request = { ...buildThreadSessionRequest(row, { scope: 'check', events: [] }), resources }
  await checkRequest(deps, ref, request)
  await db.write(async (tx) => {
    if (installation !== null) await checkRoom(tx, row, installation)
    await rows(tx, 'publications').insert(row)
  })
  return { ...(await shownWith(deps, db.read, { row, origin })), secret }
}

/**
 * Throws when the installation has no room for another publication, or has ended, and when people could not tell the
 * publication from another. Locks the installation.
 */
async function checkRoom(tx: Queries, row: PublicationRow, installation: string): Promise<void> {
  const { tenant_id: tenant } = row
  checkActive(installation, await rows(tx, 'installations').findForUpdate(tenant, installation))
  const others = await integrationStore(tx).publicationsOf(tenant, installation)
  const { length } = others
  checkOverlaps(row, others)
  if (length >= mostPublications)
    throw invalid(
      `installation_id: ${installation} has ${length} publications, and at most ${mostPublications} are possible; delete one first`,
    )
}

/** Throws when no sessions of the publication could have the repository. */
async function checkCode(
  read: Reads,
  tenant: string,
  { integration, code }: { integration: IntegrationId; code: CodeSource },
): Promise<void> {
  if (integration === 'github')
    throw invalid('code: publications of github have `github.checkout` and `github.pull_requests`')
  const { installation_id: id, repository } = code
  const row = await rows(read, 'installations').find(tenant, id)
  if (row?.integration !== 'github') throw notFound('installation', id)
  checkActive(id, row, 'code.')
  const [owner = ''] = repository.split('/')
  if (!sameName(owner, row.external_name))
    throw invalid(
      `code.repository: ${id} is installed for ${row.external_name}, and has no repository of ${owner}`,
    )
}

/** A repository of the publication, without a token, so that the check of a session covers the repository. */
function repositoriesToCheck(
  { apps }: PublicationDeps,
  { integration, spec }: PublicationRow,
): SessionRequest['resources'] {
  const [own] = spec.github?.checkout ? spec.github.repositories : []
  const repository = spec.code?.repository ?? own
  if (repository === undefined) return []
  const { url } = getApp(apps, codeHostOf({ integration, spec }))
  return [{ type: 'github_repository', url: `${url}/${repository}` }]
}

/** Returns null for `webhook`, because a webhook has no installation. */
async function installationFor(
  { apps }: PublicationDeps,
  { db, tenant }: TenantRef,
  {
    integration,
    body,
    spec,
  }: {
    integration: IntegrationId
    body: PublicationCreate
    spec: PublicationSpec
  },
): Promise<string | null> {
  const other = integrationIds.find((id) => id !== integration && id in body)
  if (other !== undefined) throw invalid(`${other}: goes with the integration ${other} alone`)
  if (body.follow_ups === false && integration !== 'github' && integration !== 'slack')
    throw invalid(
      `follow_ups: what comes for the integration ${integration} has no mentions; leave the field out`,
    )
  if (integration === 'webhook') {
    if (body.installation_id !== undefined)
      throw invalid('installation_id: nothing is installed of the integration webhook')
    if (body.app_access) throw invalid('app_access: the integration webhook has no app')
    if (!body.webhook) throw invalid('webhook: is required for the integration webhook')
    return null
  }
  const fault = getApp(apps, integration).faultOf(spec)
  if (fault !== undefined) throw invalid(fault)
  const { installation_id: id } = body
  if (id === undefined)
    throw invalid(`installation_id: is required for the integration ${integration}`)
  const row = await rows(db.read, 'installations').find(tenant, id)
  if (row?.integration !== integration) throw notFound('installation', id)
  checkActive(id, row)
  return id
}

/** The end of an installation stops its publications once. None may become live after that. */
function checkActive(id: string, row: InstallationRow | undefined, within = ''): void {
  if (row?.status !== 'active')
    throw invalid(
      `${within}installation_id: ${id} is ${row?.status ?? 'deleted'}; install the app again`,
    )
}

const sealedSigning = (
  seal: Seal,
  { tenant, id }: { tenant: string; id: string },
  secret: string,
) => seal.seal(secret, publicationSecretContext(tenant, id, 'signing'))

export const openPublicationSecrets = (
  seal: Seal,
  { tenant_id, id, sealed_secrets }: PublicationRow,
): string[] =>
  sealed_secrets
    ? [seal.open(sealed_secrets.signing, publicationSecretContext(tenant_id, id, 'signing'))]
    : []

/** Pauses or resumes a publication. After the pause its threads are told everything that was not told. */
export async function setPaused(
  { clock }: Ground,
  { db, tenant }: TenantRef,
  { integration, id }: { integration: IntegrationId; id: string },
  isPaused: boolean,
): Promise<PublicationRow> {
  return db.write(async (tx) => {
    const now = clock.now()
    const store = integrationStore(tx)
    const { installation_id } = await getPublication(tx, { tenant, integration, id })
    // The installation is locked before the publication, in the same order as when an installation ends.
    const installation =
      installation_id === null
        ? undefined
        : await rows(tx, 'installations').findForUpdate(tenant, installation_id)
    const kept = await rows(tx, 'publications').getForUpdate(tenant, id)
    const status = isPaused ? 'paused' : 'live'
    if (kept.status === status) return kept
    if (!isPaused) {
      if (installation_id !== null) checkActive(installation_id, installation)
      await store.wakeThreads(tenant, id, now)
      notifyIntegrations(tx)
    }
    return rows(tx, 'publications').update(kept, { status, updated_at: iso(now) })
  })
}

export const deletePublication = (
  deps: Ground,
  { db, tenant }: TenantRef,
  { integration, id }: { integration: IntegrationId; id: string },
): Promise<void> =>
  db.write(async (tx) => {
    await getPublication(tx, { tenant, integration, id })
    await checkNotHeld(tx, tenant, `publication ${id}`)
    await endAccess(deps, tx, await rows(tx, 'publications').getForUpdate(tenant, id))
    await integrationStore(tx).removePublication(tenant, id)
  })
