/**
 * The operator's commands about workspaces, members and keys. Running servers need no notification: they notice a
 * change within a second.
 */
import type { Clock } from '@steward/base/time.ts'
import { hourMs } from '@steward/base/settings/kinds.ts'
import { iso } from '@steward/base/time.ts'
import type { HoldScope, HoldShown } from '@steward/protocol/holds.ts'
import { HoldCreate } from '@steward/protocol/holds.ts'
import { auditChange } from '../../ground/core/security/audited-call.ts'
import { isIdOf } from '../../ground/core/text/ids.ts'
import type { ApiKey } from '@steward/protocol/api-keys.ts'
import type { KeyOfDeparted, MemberShown } from '@steward/protocol/people.ts'
import type { GithubAppSettings } from '../../capabilities/integrations/github/manifest.ts'
import { makeGithubApp } from '../../capabilities/integrations/github/manifest.ts'
import type { OpenDatabases, Queries } from '../../ground/database/database.ts'
import { apiKeyStore } from '../../tenants/api-keys/store.ts'
import {
  deletePerson,
  removeMember,
  showKeys,
  prepareRoleChange,
} from '../../tenants/members/departure.ts'
import { memberStore } from '../../tenants/people/members/store.ts'
import { peopleStore } from '../../tenants/people/store.ts'
import { checkName, checkNewName, createKey, workspaceId } from '../../tenants/workspaces/create.ts'
import { makeHold, releaseHold } from '../../tenants/workspaces/holds/holds.ts'
import { holdStore, showHold } from '../../tenants/workspaces/holds/store.ts'
import { checkWorkspaceUnheld, deleteWorkspace } from '../../tenants/workspaces/delete.ts'
import type { WorkspaceSummary } from '../../tenants/workspaces/store.ts'
import { workspaceStore } from '../../tenants/workspaces/store.ts'

export type AdministrationDeps = {
  databases: OpenDatabases
  clock: Clock
  /** The addresses of GitHub. */
  github: { url: string; apiUrl: string }
  /** From then on, `fetch` of this process dials as a server does: by its proxy, and no refused address. */
  dialAsServer: () => Promise<void>
}

type InWorkspace = { workspace: string }

/** Changes one workspace, which is named by its id or its name. */
const inWorkspace = <T>(
  { databases: { control } }: AdministrationDeps,
  workspace: string,
  change: (tx: Queries, id: string) => Promise<T>,
): Promise<T> => control.write(async (tx) => change(tx, await workspaceId(tx, workspace)))

export async function listWorkspaces({
  databases: { control },
}: AdministrationDeps): Promise<{ data: WorkspaceSummary[] }> {
  return { data: await workspaceStore(control.read).summaries() }
}

export function renameWorkspace(
  deps: AdministrationDeps,
  workspace: string,
  name: string,
): Promise<InWorkspace & { name: string }> {
  checkName(name)
  return inWorkspace(deps, workspace, async (tx, id) => {
    await checkNewName(tx, name, id)
    await workspaceStore(tx).rename(id, name)
    return { workspace: id, name }
  })
}

export const archiveWorkspace = (
  deps: AdministrationDeps,
  workspace: string,
): Promise<InWorkspace & { archived_at: string; revoked_keys: number }> =>
  inWorkspace(deps, workspace, async (tx, id) => {
    const now = deps.clock.now()
    if (!(await workspaceStore(tx).archive(id, now)))
      throw new Error(`${workspace} is archived already; delete-workspace deletes it`)
    const revoked = await apiKeyStore(tx).revokeAll(id, now)
    return { workspace: id, archived_at: iso(now), revoked_keys: revoked.length }
  })

export const unarchiveWorkspace = (
  deps: AdministrationDeps,
  workspace: string,
): Promise<InWorkspace & { archived_at: null }> =>
  inWorkspace(deps, workspace, async (tx, id) => {
    if (!(await workspaceStore(tx).unarchive(id))) throw new Error(`${workspace} is not archived`)
    return { workspace: id, archived_at: null }
  })

export async function removeWorkspace(
  deps: AdministrationDeps,
  workspace: string,
): Promise<InWorkspace & { deleted: true; removal: string }> {
  const { databases } = deps
  for (const id of await workspaceStore(databases.control.read).named(workspace))
    await checkWorkspaceUnheld(databases, id)
  return inWorkspace(deps, workspace, async (tx, id) => {
    await deleteWorkspace(tx, { id, confirm: id, now: deps.clock.now() })
    const removal = 'a running server, or the next that starts, removes everything of the workspace'
    return { workspace: id, deleted: true, removal }
  })
}

export const listMembers = (
  deps: AdministrationDeps,
  workspace: string,
): Promise<InWorkspace & { data: MemberShown[] }> =>
  inWorkspace(deps, workspace, async (tx, id) => ({
    workspace: id,
    data: await memberStore(tx).list(id),
  }))

/** `named`: an email or an id. */
export async function personId(tx: Queries, named: string): Promise<string> {
  if (isIdOf('person', named) || isIdOf('subject', named)) return named
  const email = named
  const person = await peopleStore(tx).byEmail(email.trim().toLowerCase())
  if (!person) throw new Error(`nobody here has the address ${email}`)
  return person.id
}

type DepartureReport = { person: string; keys: KeyOfDeparted[]; revoked: boolean }

export const removeMemberByEmail = (
  deps: AdministrationDeps,
  { workspace, email, revokesKeys }: { workspace: string; email: string; revokesKeys: boolean },
): Promise<InWorkspace & DepartureReport> =>
  inWorkspace(deps, workspace, async (tx, tenant) => {
    const person = await personId(tx, email)
    await prepareRoleChange(tx, tenant, person)
    const now = deps.clock.now()
    const removed = await removeMember(tx, { tenant, person, revokesKeys, now })
    return { workspace: tenant, person, keys: showKeys(removed), revoked: removed.revoked }
  })

export const deletePersonByEmail = (
  { databases: { control }, clock }: AdministrationDeps,
  { email, revokesKeys }: { email: string; revokesKeys: boolean },
): Promise<DepartureReport> =>
  control.write(async (tx) => {
    const person = await personId(tx, email)
    const deleted = await deletePerson(tx, person, { revokesKeys, now: clock.now() })
    return { person, keys: showKeys(deleted), revoked: deleted.revoked }
  })

export async function listHolds(
  deps: AdministrationDeps,
  workspace: string,
): Promise<InWorkspace & { data: HoldShown[] }> {
  const { workspace: id } = await inWorkspace(deps, workspace, async (_tx, found) => ({
    workspace: found,
  }))
  const { read } = await deps.databases.open(id)
  const paging = { limit: mostHolds, order: 'desc', from: undefined } as const
  const { rows } = await holdStore(read).list(id, paging, false)
  return { workspace: id, data: rows.map(showHold) }
}

/** `kept`: `all`, or the id of a session or a person. */
export async function createHold(
  deps: AdministrationDeps,
  { workspace, kept, reason }: { workspace: string; kept: string; reason: string },
): Promise<HoldShown> {
  const scope = scopeNamed(kept)
  const asked = HoldCreate.safeParse({ scope, reason })
  if (!asked.success) throw new Error('the reason of a hold has 1 to 1000 characters')
  const after = { scope: scope.type, subject_id: kept === 'all' ? '' : kept, reason }
  const { workspace: tenant } = await inWorkspace(deps, workspace, async (_tx, id) => {
    auditChange({ type: 'hold', after })
    return { workspace: id }
  })
  return showHold(await makeHold(deps, tenant, asked.data))
}

export async function releaseHoldById(
  deps: AdministrationDeps,
  { workspace, hold }: { workspace: string; hold: string },
): Promise<HoldShown> {
  const { workspace: tenant } = await inWorkspace(deps, workspace, async (_tx, id) => {
    auditChange({ type: 'hold', id: hold, after: { is_released: true } })
    return { workspace: id }
  })
  return showHold(await releaseHold(deps, tenant, hold, true))
}

const mostHolds = 1_000

function scopeNamed(kept: string): HoldScope {
  if (kept === 'all') return { type: 'workspace' }
  if (isIdOf('session', kept)) return { type: 'session', session_id: kept }
  if (isIdOf('person', kept)) return { type: 'person', person_id: kept }
  throw new Error(`${kept} is neither all nor the id of a session or of a person`)
}

export const listKeys = (
  deps: AdministrationDeps,
  workspace: string,
): Promise<InWorkspace & { data: ApiKey[] }> =>
  inWorkspace(deps, workspace, async (tx, id) => ({
    workspace: id,
    data: await apiKeyStore(tx).allValid(id, deps.clock.now()),
  }))

/** For when the identity provider does not answer, or lets nobody in. */
export async function makeEmergencyKey(
  deps: AdministrationDeps,
  workspace: string,
): Promise<Awaited<ReturnType<typeof createKey>> & { expires_at: string }> {
  const expiresAt = iso(deps.clock.now() + hourMs)
  const made = await createKey(deps, workspace, { name: 'emergency key', admin: true, expiresAt })
  return { ...made, expires_at: expiresAt }
}

export const revokeKeyById = (
  { databases: { control }, clock }: AdministrationDeps,
  key: string,
): Promise<InWorkspace & { key: string; name: string; revoked_at: string }> =>
  control.write(async (tx) => {
    const row = await apiKeyStore(tx).byId(key)
    if (!row) throw new Error(`no key has the id ${key}; list-keys shows the ids`)
    if (row.revoked_at !== null) throw new Error(`${key} was revoked at ${row.revoked_at}`)
    const now = clock.now()
    await apiKeyStore(tx).revoke(row.tenant_id, key, now)
    return { workspace: row.tenant_id, key, name: row.name, revoked_at: iso(now) }
  })

/** Prints the page where the operator begins on the error stream, and waits for GitHub. */
export async function registerGithubApp(
  { github: { url, apiUrl }, dialAsServer }: AdministrationDeps,
  given: string,
): Promise<GithubAppSettings> {
  const publicUrl = URL.parse(given)
  if (publicUrl?.protocol !== 'https:')
    throw new Error('the public URL must begin with https, as GitHub reaches the service')
  const tell = (page: string) =>
    void process.stderr.write(`Open ${page} in a browser on this machine. This waits for GitHub.\n`)
  await dialAsServer()
  const asked = { publicUrl: publicUrl.href.replace(/\/+$/, ''), url, apiUrl, tell }
  return makeGithubApp(asked, new AbortController().signal)
}
