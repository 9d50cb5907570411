/** Installations of apps. A person begins an installation with a state that is valid once. */
import { iso } from '@steward/base/time.ts'
import type { TokenDeps } from './token.ts'
import type { Installation, IntegrationId } from '@steward/protocol/integrations.ts'
import { auditChange } from '../../../ground/core/security/audited-call.ts'
import { conflict, forbidden, invalid, notFound } from '../../../ground/core/errors.ts'
import { newId } from '../../../ground/core/text/ids.ts'
import { hashToken } from '../../../ground/core/security/token.ts'
import type { Database, Queries, Reads } from '../../../ground/database/database.ts'
import { lockAdvisory } from '../../../ground/database/lock.ts'
import type { Ground } from '../../../ground/ground.ts'
import type { App, ProviderContext } from './app.ts'
import { endAccess } from './app-access.ts'
import { getApp } from './apps.ts'
import { sealTokens, openTokens } from './token.ts'
import type { InstallationChange } from '../integration.ts'
import { externalAccounts } from './external-accounts.ts'
import { newState } from './state.ts'
import type { InstallationRow } from '../store.ts'
import { integrationStore, mostInstallations, showInstallation } from '../store.ts'
import { notifyIntegrations } from '../topics.ts'
import { peopleStore } from '../../../tenants/people/store.ts'
import { isInUse, openIfInUse } from '../../../tenants/workspaces/in-use.ts'
import { rows } from '../../../ground/database/rows.ts'

const stateMs = 10 * 60_000
/** More than the longest time between the claim of a place and the end of its installation. */
const finishMs = 10 * 60_000

/** The callback URL, exactly as it is registered at the provider. */
export const callbackUrlOf = (base: string, integration: IntegrationId): string =>
  `${base}/v1/ext/integrations/${integration}/callback`

export async function beginInstall(
  { databases, clock, apps }: TokenDeps,
  { tenant, user, integration, base }: InstallRequest,
): Promise<{ url: string; expires_at: string }> {
  const app = getApp(apps, integration)
  const state = newState()
  const now = clock.now()
  const expires_ms = now + stateMs
  const row = { id: hashToken(state), tenant_id: tenant, integration, user_id: user, expires_ms }
  await databases.control.write((tx) => externalAccounts(tx).begin(row, now))
  const url = app.installUrl(state, callbackUrlOf(base, integration))
  return { url, expires_at: iso(expires_ms) }
}

/** `user`: the person who begins the installation; null for a key. */
type InstallRequest = {
  tenant: string
  user: string | null
  integration: IntegrationId
  base: string
}

type ReturnedInstall = Pick<InstallRequest, 'integration' | 'base'> & {
  query: URLSearchParams
  /** The person who returns, with the present rights: up to ten minutes may have passed. */
  user: { id: string; administers: (tenant: string) => boolean } | undefined
}

const isSpent = () =>
  invalid('state: is unknown, too old or used; begin the installation again, within ten minutes')

/**
 * The workspace into which a key has begun an installation; undefined for one that a person has begun. Whoever comes back
 * is asked whether the app may serve it.
 */
export async function workspaceToConfirm(
  { databases, clock }: Ground,
  { query, integration }: Pick<ReturnedInstall, 'query' | 'integration'>,
): Promise<{ id: string; name: string } | undefined> {
  const { control } = databases
  const state = await externalAccounts(control.read).begun(hashToken(query.get('state') ?? ''))
  if (!state || state.integration !== integration || state.expires_ms <= clock.now())
    return undefined
  if (state.user_id !== null) return undefined
  const workspace = await peopleStore(control.read).workspace(state.tenant_id)
  if (!workspace) throw isSpent()
  return workspace
}

/**
 * Attack: with a link, somebody could install a victim's external workspace into their own workspace. So the person who
 * returns must be the person who began. Where a key began, a page has named the workspace to whoever returns.
 */
export async function finishInstall(
  deps: TokenDeps,
  { query, user, integration, base }: ReturnedInstall,
  signal: AbortSignal,
): Promise<Installation> {
  const { databases, clock, apps, sendToProvider: send } = deps
  const app = getApp(apps, integration)
  const hash = hashToken(query.get('state') ?? '')
  const now = clock.now()
  const state = await databases.control.write((tx) => externalAccounts(tx).removeOne(hash))
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
  const account = await claimAccount(deps, { tenant, integration, external: found.externalId })
  if (account.tenant_id !== tenant)
    throw conflict(`${found.externalName} serves another workspace; uninstall it there first`)
  const db = await databases.open(tenant)
  const id = account.installation_id
  const row = await keepInstallation(deps, db, {
    tenant,
    id,
    by: state.user_id,
    found: { ...found, integration },
  }).catch(async (error: unknown) => {
    // Gives the place back when no installation was stored. Otherwise no workspace could install the app there.
    const kept = await rows(db.read, 'installations').find(tenant, id)
    if (!kept) await databases.control.write((tx) => externalAccounts(tx).leave(tenant, id))
    throw error
  })
  return showInstallation(row)
}

/** Claims the external workspace for the tenant. Returns the other tenant's place when another tenant was first. */
async function claimAccount(
  { databases, clock }: TokenDeps,
  {
    tenant,
    integration,
    external,
  }: { tenant: string; integration: IntegrationId; external: string },
) {
  const { control } = databases
  /** `abandoned`: a place whose installation is not there. It stays while a process may finish the installation. */
  const claim = (abandoned?: InstallationKey) =>
    control.write(async (tx) => {
      const store = externalAccounts(tx)
      const now = clock.now()
      if (abandoned) await store.removeAbandoned(abandoned, now)
      const id = newId('installation')
      const asked = { integration, external_id: external, tenant_id: tenant, installation_id: id }
      const account = await store.claim(asked)
      const note = { integration, tenant_id: tenant, user_id: null, expires_ms: now + finishMs }
      if (account.tenant_id === tenant)
        await store.noteFinish({ ...note, id: account.installation_id })
      return account
    })
  const claimed = await claim()
  const isOwn = claimed.tenant_id === tenant
  const db = isOwn ? await databases.open(tenant) : await openIfInUse(databases, claimed.tenant_id)
  if (!db) return claimed
  const kept = await rows(db.read, 'installations').find(claimed.tenant_id, claimed.installation_id)
  if (kept?.status === 'revoked') {
    // A revoked installation is about to leave its place and never returns, so a new installation claims the place.
    await control.write((tx) =>
      externalAccounts(tx).leave(claimed.tenant_id, claimed.installation_id),
    )
    return claim()
  }
  return isOwn || kept ? claimed : claim(claimed)
}

/** `by`: the person who began the installation; null for a key. */
type FoundInstallation = {
  tenant: string
  id: string
  by: string | null
  found: Exclude<Awaited<ReturnType<App['finish']>>, { refused: string }> & {
    integration: IntegrationId
  }
}

/** Stores the installation. After a new installation its publications continue and tell everything that waited. */
async function keepInstallation(
  { clock, seal, apps }: TokenDeps,
  db: Database,
  { tenant, id, by, found }: FoundInstallation,
): Promise<InstallationRow> {
  return db.write(async (tx) => {
    await lockAdvisory(tx, `${tenant}/installations`)
    const store = integrationStore(tx)
    const now = clock.now()
    notifyIntegrations(tx)
    const kept = await rows(tx, 'installations').findForUpdate(tenant, id)
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
      const row = await rows(tx, 'installations').insert({
        tenant_id: tenant,
        id,
        integration,
        external_id,
        token_owner: null,
        token_until_ms: 0,
        ...columns,
      })
      const isEarlier = isEarlierThan(row, getApp(apps, integration))
      for (const earlier of all.filter(isEarlier)) {
        await resume(tx, earlier, now, id)
        await moveCode(tx, { tenant, from: earlier.id, to: id }, now)
      }
      return row
    }
    await resume(tx, kept, now)
    return rows(tx, 'installations').update(kept, columns)
  })
}

/** True for an installation of the same external workspace that is not active. */
const isEarlierThan =
  (row: InstallationRow, { isNewIdEachTime = false }: App) =>
  (each: InstallationRow): boolean =>
    each.integration === row.integration &&
    each.status !== 'active' &&
    (isNewIdEachTime
      ? each.external_name === row.external_name
      : each.external_id === row.external_id)

/**
 * Resumes publications. Publications that people have paused stay paused. `by`: the installation of the publications
 * from now on.
 */
async function resume(
  tx: Queries,
  { tenant_id: tenant, id }: InstallationRow,
  now: number,
  by = id,
): Promise<void> {
  const store = integrationStore(tx)
  for (const { id: publication } of await store.publicationsOf(tenant, id)) {
    const kept = await rows(tx, 'publications').getForUpdate(tenant, publication)
    const waits = kept.status === 'needs_reauth'
    if (!waits && by === id) continue
    const status = waits ? 'live' : kept.status
    const columns = { installation_id: by, status, updated_at: iso(now) }
    await rows(tx, 'publications').update(kept, columns)
    if (waits) await store.wakeThreads(tenant, publication, now)
  }
}

/** Publications of other integrations whose repository an earlier installation had. */
async function moveCode(
  tx: Queries,
  { tenant, from, to }: { tenant: string; from: string; to: string },
  now: number,
): Promise<void> {
  for (const { id } of await integrationStore(tx).publicationsWithCode(tenant, from)) {
    const kept = await rows(tx, 'publications').findForUpdate(tenant, id)
    const code = kept?.spec.code
    if (!kept || code?.installation_id !== from) continue
    const spec = { ...kept.spec, code: { ...code, installation_id: to } }
    await rows(tx, 'publications').update(kept, { spec, updated_at: iso(now) })
  }
}

type InstallationKey = { tenant_id: string; installation_id: string }
/** Tolerance for the times of providers, because some are in whole seconds. */
const leastMs = 1_000

/** Applies a provider's news about an installation. News from before the newest installation is ignored. */
export async function changeInstallation(
  deps: Ground,
  { tenant_id: tenant, installation_id: id }: InstallationKey,
  { kind, atMs }: InstallationChange,
): Promise<void> {
  const db = await deps.databases.open(tenant)
  const row = await rows(db.read, 'installations').find(tenant, id)
  const isOld = row && atMs !== null && atMs < Date.parse(row.created_at) - leastMs
  if (isOld) return
  if (kind === 'revoked') {
    await endInstallation(deps, { tenant_id: tenant, installation_id: id }, 'ended')
    return
  }
  await db.write(async (tx) => {
    const store = integrationStore(tx)
    const now = deps.clock.now()
    const kept = await rows(tx, 'installations').findForUpdate(tenant, id)
    if (!kept || kept.status === 'revoked') return
    if (kind === 'resumed') await resume(tx, kept, now)
    else await store.stopPublications(tenant, id, iso(now))
    const status = kind === 'resumed' ? 'active' : 'needs_reauth'
    await rows(tx, 'installations').update(kept, { status, updated_at: iso(now) })
    notifyIntegrations(tx)
  })
}

/** Ends the installation in this service. The tokens are kept until the provider has ended the installation too. */
async function endInstallation(
  ground: Ground,
  { tenant_id: tenant, installation_id: id }: InstallationKey,
  atProvider: 'ended' | 'unknown',
): Promise<void> {
  const { databases, clock } = ground
  const db = await databases.open(tenant)
  await db.write(async (tx) => {
    const store = integrationStore(tx)
    const kept = await rows(tx, 'installations').findForUpdate(tenant, id)
    if (!kept) return
    const updated_at = iso(clock.now())
    if (kept.status !== 'revoked') {
      await store.stopPublications(tenant, id, updated_at)
      await endAccesses(ground, tx, kept)
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
    await rows(tx, 'installations').update(kept, { status: 'revoked', updated_at, ...tokens })
  })
  await databases.control.write(async (tx) => {
    await externalAccounts(tx).leave(tenant, id)
    notifyIntegrations(tx)
  })
}

/** Archives the vaults with tokens for the installation's publications. */
async function endAccesses(
  deps: Ground,
  tx: Queries,
  { tenant_id: tenant, id }: InstallationRow,
): Promise<void> {
  const store = integrationStore(tx)
  for (const { id: publication } of await store.publicationsOf(tenant, id)) {
    const row = await rows(tx, 'publications').getForUpdate(tenant, publication)
    await endAccess(deps, tx, row)
    await rows(tx, 'publications').update(row, { vault_id: null, token_due_ms: null })
  }
}

/** The installation of an integration that has not ended, where there is one alone. */
export async function onlyInstallation(
  read: Reads,
  tenant: string,
  integration: IntegrationId,
): Promise<string> {
  const all = await integrationStore(read).installations(tenant)
  const open = all.filter((each) => each.integration === integration && each.status !== 'revoked')
  const [first] = open
  if (!first) throw invalid(`installation_id: ${integration} is not installed in this workspace`)
  if (open.length > 1)
    throw invalid(
      `installation_id: is required, because ${integration} is installed ${open.length} times: ${open.map(({ id, external_name }) => `${id} (${external_name})`).join(', ')}`,
    )
  return first.id
}

/**
 * Ends the installation here first, so that nothing more is told, and then at the provider. A repeated call tries again
 * at the provider.
 */
export async function uninstallApp(
  deps: TokenDeps,
  {
    db,
    tenant,
    integration,
    id,
  }: { db: Database; tenant: string; integration: IntegrationId; id: string },
  signal: AbortSignal,
): Promise<Installation & { revoked_at_provider: boolean }> {
  const { databases, seal, clock, log, sendToProvider: send } = deps
  const app = getApp(deps.apps, integration)
  const row = await rows(db.read, 'installations').find(tenant, id)
  if (row?.integration !== integration) throw notFound('installation', id)
  const ref = { tenant_id: tenant, installation_id: id }
  await endInstallation(deps, ref, 'unknown')
  const tokens = openTokens(seal, row)
  // With a newer installation of the same external workspace, the provider would end that one.
  const isTaken = await externalAccounts(databases.control.read).accountOf(
    integration,
    row.external_id,
  )
  const provider: ProviderContext = { send, signal, nowMs: clock.now() }
  const isRevoked =
    tokens === null || (!isTaken && (await app.revoke(row.external_id, tokens, provider)))
  if (isRevoked) await endInstallation(deps, ref, 'ended')
  else log.warn('a provider did not end an installation', { installation_id: id })
  const shown = showInstallation({ ...row, status: 'revoked' })
  return { ...shown, revoked_at_provider: isRevoked }
}
