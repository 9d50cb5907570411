/** Installations of apps: begun by a state that is used once, and ended at the provider too. */
import type { Clock } from '@steward/base/time.ts'
import { iso } from '@steward/base/time.ts'
import type { Log } from '@steward/base/log.ts'
import type { Installation, IntegrationId } from '@steward/protocol/integrations.ts'
import { auditChange } from '../../ground/core/audited-call.ts'
import { conflict, forbidden, invalid, notFound } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/ids.ts'
import type { Seal } from '../../ground/core/seal.ts'
import { hashToken } from '../../ground/core/token.ts'
import type { Database, OpenDatabases, Queries } from '../../ground/database/database.ts'
import { lockAdvisory } from '../../ground/database/lock.ts'
import type { App, Outside } from './app.ts'
import { endAccess } from './app-access.ts'
import type { Apps } from './apps.ts'
import { appOf } from './apps.ts'
import { sealTokens, tokensOf } from './installation-token.ts'
import type { InstallationChange } from './integration.ts'
import { placeStore } from './places.ts'
import { newState } from './state.ts'
import type { Send } from './send.ts'
import type { InstallationRow } from './store.ts'
import { integrationStore, mostInstallations, showInstallation } from './store.ts'
import { notifyIntegrations } from './topics.ts'
import { isInUse } from '../../tenants/workspaces/in-use.ts'
import type { Bus } from '../../ground/bus/bus.ts'

export type InstallDeps = {
  databases: OpenDatabases
  bus: Bus
  clock: Clock
  seal: Seal
  log: Log
  apps: Apps
  /** To providers, whose addresses the operator names. */
  sendToProvider: Send
}

const stateMs = 10 * 60_000

/** As it is registered at the provider, to the byte. */
export const callbackUrlOf = (base: string, integration: IntegrationId): string =>
  `${base}/v1/ext/integrations/${integration}/callback`

export async function beginInstall(
  { databases, clock, apps }: InstallDeps,
  { tenant, user, integration, base }: InstallRequest,
): Promise<{ url: string; expires_at: string }> {
  const app = appOf(apps, integration)
  const state = newState()
  const now = clock.now()
  const expires_ms = now + stateMs
  const row = { id: hashToken(state), tenant_id: tenant, integration, user_id: user, expires_ms }
  await databases.control.write((tx) => placeStore(tx).begin(row, now))
  const url = app.installUrl(state, callbackUrlOf(base, integration))
  return { url, expires_at: iso(expires_ms) }
}

/** `user`: who has begun it; null for a key. */
type InstallRequest = {
  tenant: string
  user: string | null
  integration: IntegrationId
  base: string
}

type ReturnedInstall = Pick<InstallRequest, 'integration' | 'base'> & {
  query: URLSearchParams
  /** Who comes back, with the rights of now: ten minutes may lie between. */
  user: { id: string; administers: (tenant: string) => boolean } | undefined
}

const isSpent = () =>
  invalid('state: is unknown, too old or used; begin the installation again, within ten minutes')

/**
 * Whoever comes back must be who has begun it, so that nobody installs their workspace into another's by a link. For a key there is
 * nobody to compare with.
 */
export async function finishInstall(
  deps: InstallDeps,
  { query, user, integration, base }: ReturnedInstall,
  signal: AbortSignal,
): Promise<Installation> {
  const { databases, clock, apps, sendToProvider: send } = deps
  const app = appOf(apps, integration)
  const hash = hashToken(query.get('state') ?? '')
  const now = clock.now()
  const state = await databases.control.write((tx) => placeStore(tx).take(hash))
  if (!state || state.integration !== integration || state.expires_ms <= now) throw isSpent()
  if (state.user_id !== null && state.user_id !== user?.id)
    throw forbidden('sign in as the person who has begun the installation, and begin it again')
  const { tenant_id: tenant } = state
  if (state.user_id !== null && !user?.administers(tenant))
    throw forbidden('only an admin of the workspace installs an app there')
  if (!(await isInUse(databases, tenant))) throw isSpent()
  const redirect = callbackUrlOf(base, integration)
  const found = await app.finish(query, redirect, { send, signal, nowMs: now })
  if ('refused' in found) throw invalid(`${integration}: ${found.refused}`)
  const place = await claimPlace(deps, { tenant, integration, external: found.externalId })
  if (place.tenant_id !== tenant)
    throw conflict(`${found.externalName} serves another workspace; uninstall it there first`)
  const db = await databases.open(tenant)
  const id = place.installation_id
  const row = await keepInstallation(deps, db, {
    tenant,
    id,
    by: state.user_id,
    found: { ...found, integration },
  }).catch(async (error: unknown) => {
    // A place without an installation would keep every workspace from it.
    const kept = await integrationStore(db.read).installation(tenant, id)
    if (!kept) await databases.control.write((tx) => placeStore(tx).leave(tenant, id))
    throw error
  })
  notifyIntegrations(deps.bus)
  return showInstallation(row)
}

/** The place as it is then: another's, where another workspace was first. */
async function claimPlace(
  { databases }: InstallDeps,
  {
    tenant,
    integration,
    external,
  }: { tenant: string; integration: IntegrationId; external: string },
) {
  const { control } = databases
  const claim = () =>
    control.write((tx) =>
      placeStore(tx).claim({
        integration,
        external_id: external,
        tenant_id: tenant,
        installation_id: newId('installation'),
      }),
    )
  const place = await claim()
  if (place.tenant_id !== tenant) return place
  const db = await databases.open(tenant)
  const kept = await integrationStore(db.read).installation(tenant, place.installation_id)
  if (kept?.status !== 'revoked') return place
  // It has ended, and its place is about to be left: an installation that has ended never comes back.
  await control.write((tx) => placeStore(tx).leave(tenant, place.installation_id))
  return claim()
}

/** `by`: who has begun it; null for a key. */
type FoundInstallation = {
  tenant: string
  id: string
  by: string | null
  found: Exclude<Awaited<ReturnType<App['finish']>>, { refused: string }> & {
    integration: IntegrationId
  }
}

/** Installed again, its publications go on with what waited for its credential. */
async function keepInstallation(
  { clock, seal, apps }: InstallDeps,
  db: Database,
  { tenant, id, by, found }: FoundInstallation,
): Promise<InstallationRow> {
  return db.write(async (tx) => {
    await lockAdvisory(tx, `${tenant}/installations`)
    const store = integrationStore(tx)
    const now = clock.now()
    const kept = await store.takeInstallation(tenant, id)
    if (kept?.status === 'revoked')
      throw conflict('the app was uninstalled meanwhile; begin the installation again')
    const columns = {
      external_name: found.externalName,
      bot_user_id: found.botUserId,
      scopes: found.scopes,
      status: 'active',
      sealed_tokens: found.tokens && sealTokens(seal, { tenant, id }, found.tokens),
      created_at: iso(now),
      updated_at: iso(now),
    } as const
    auditChange({
      type: 'installation',
      id,
      workspace: tenant,
      ...(by !== null && { actor: { type: 'user', id: by, name: null } }),
      action: kept ? 'installation.update' : 'installation.create',
      before: kept ? { status: kept.status, scopes: kept.scopes } : null,
      after: { status: 'active', external_id: found.externalId, scopes: found.scopes },
    })
    if (!kept) {
      const all = await store.installations(tenant)
      if (all.length >= mostInstallations)
        throw invalid(`a workspace has at most ${mostInstallations} installations`)
      const { integration, externalId: external_id } = found
      const row = await store.insertInstallation({
        tenant_id: tenant,
        id,
        integration,
        external_id,
        token_owner: null,
        token_until_ms: 0,
        ...columns,
      })
      const isEarlier = isEarlierThan(row, appOf(apps, integration))
      for (const earlier of all.filter(isEarlier)) await resume(tx, earlier, now, id)
      return row
    }
    await resume(tx, kept, now)
    return store.updateInstallation(kept, columns)
  })
}

/** Of the same external workspace, ended or without a credential. */
const isEarlierThan =
  (row: InstallationRow, { isNewIdEachTime = false }: App) =>
  (each: InstallationRow): boolean =>
    each.integration === row.integration &&
    each.status !== 'active' &&
    (isNewIdEachTime
      ? each.external_name === row.external_name
      : each.external_id === row.external_id)

/** `by`: the installation that the publications have from now on. Those that people have paused stay paused. */
async function resume(
  tx: Queries,
  { tenant_id: tenant, id }: InstallationRow,
  now: number,
  by = id,
): Promise<void> {
  const store = integrationStore(tx)
  for (const { id: publication } of await store.publicationsOf(tenant, id)) {
    const kept = await store.takePublication(tenant, publication)
    const waits = kept.status === 'needs_reauth'
    if (!waits && by === id) continue
    const status = waits ? 'live' : kept.status
    const columns = { installation_id: by, status, updated_at: iso(now) }
    await store.updatePublication(kept, columns)
    if (waits) await store.wakeThreads(tenant, publication, now)
  }
}

type InstallationPlace = { tenant_id: string; installation_id: string }
type ChangeDeps = Pick<InstallDeps, 'databases' | 'clock' | 'bus' | 'seal'>

/** Of a provider's times, some of which are in whole seconds. */
const leastMs = 1_000

/** What the provider says of an installation by a delivery. One of before the last installation says nothing about it. */
export async function changeInstallation(
  deps: ChangeDeps,
  { tenant_id: tenant, installation_id: id }: InstallationPlace,
  { kind, atMs }: InstallationChange,
): Promise<void> {
  const db = await deps.databases.open(tenant)
  const row = await integrationStore(db.read).installation(tenant, id)
  const isOld = row && atMs !== null && atMs < Date.parse(row.created_at) - leastMs
  if (isOld) return
  if (kind === 'revoked') {
    await endInstallation(deps, { tenant_id: tenant, installation_id: id }, 'ended')
    return
  }
  await db.write(async (tx) => {
    const store = integrationStore(tx)
    const now = deps.clock.now()
    const kept = await store.takeInstallation(tenant, id)
    if (!kept || kept.status === 'revoked') return
    if (kind === 'resumed') await resume(tx, kept, now)
    else await store.stopPublications(tenant, id, iso(now))
    const status = kind === 'resumed' ? 'active' : 'needs_reauth'
    await store.updateInstallation(kept, { status, updated_at: iso(now) })
  })
  notifyIntegrations(deps.bus)
}

/** It is no longer anybody's. Its tokens stay while its provider has not ended them. */
async function endInstallation(
  { databases, clock, bus, seal }: ChangeDeps,
  { tenant_id: tenant, installation_id: id }: InstallationPlace,
  atProvider: 'ended' | 'unknown',
): Promise<void> {
  const db = await databases.open(tenant)
  await db.write(async (tx) => {
    const store = integrationStore(tx)
    const kept = await store.takeInstallation(tenant, id)
    if (!kept) return
    const updated_at = iso(clock.now())
    if (kept.status !== 'revoked') {
      await store.stopPublications(tenant, id, updated_at)
      await endAccesses({ seal, clock }, tx, kept)
      auditChange({
        type: 'installation',
        id,
        workspace: tenant,
        action: 'installation.end',
        before: { status: kept.status, external_id: kept.external_id },
        after: { status: 'revoked' },
      })
    }
    const tokens = atProvider === 'ended' ? { sealed_tokens: null } : {}
    await store.updateInstallation(kept, { status: 'revoked', updated_at, ...tokens })
  })
  await databases.control.write((tx) => placeStore(tx).leave(tenant, id))
  notifyIntegrations(bus)
}

/** With the vaults of its publications. */
async function endAccesses(
  deps: Pick<InstallDeps, 'seal' | 'clock'>,
  tx: Queries,
  { tenant_id: tenant, id }: InstallationRow,
): Promise<void> {
  const store = integrationStore(tx)
  for (const { id: publication } of await store.publicationsOf(tenant, id)) {
    const row = await store.takePublication(tenant, publication)
    await endAccess(deps, tx, row)
    await store.updatePublication(row, { vault_id: null, token_due_ms: null })
  }
}

/** Here first, so that nothing is told any more; then at the provider, again where it was not reached before. */
export async function uninstall(
  deps: InstallDeps,
  {
    db,
    tenant,
    integration,
    id,
  }: { db: Database; tenant: string; integration: IntegrationId; id: string },
  signal: AbortSignal,
): Promise<Installation & { revoked_at_provider: boolean }> {
  const { databases, seal, clock, log, sendToProvider: send } = deps
  const app = appOf(deps.apps, integration)
  const row = await integrationStore(db.read).installation(tenant, id)
  if (row?.integration !== integration) throw notFound('installation', id)
  const place = { tenant_id: tenant, installation_id: id }
  await endInstallation(deps, place, 'unknown')
  const tokens = tokensOf(seal, row)
  // Installed anew: the provider would end that installation.
  const isTaken = await placeStore(databases.control.read).placeOf(integration, row.external_id)
  const outside: Outside = { send, signal, nowMs: clock.now() }
  const isRevoked =
    tokens === null || (!isTaken && (await app.revoke(row.external_id, tokens, outside)))
  if (isRevoked) await endInstallation(deps, place, 'ended')
  else log.warn('a provider did not end an installation', { installation_id: id })
  const shown = showInstallation({ ...row, status: 'revoked' })
  return { ...shown, revoked_at_provider: isRevoked }
}
