/** Operators create workspaces: the first at the first start, others by a command. */
import { apiKeyStore } from '../api-keys/store.ts'
import { auditWorkspace } from '../../ground/core/security/audited-call.ts'
import { newId } from '../../ground/core/text/ids.ts'
import type { Log } from '@steward/base/log.ts'
import type { Clock } from '@steward/base/time.ts'
import { hashToken, newToken } from '../../ground/core/security/token.ts'
import type { OpenDatabases, Queries, Reads } from '../../ground/database/database.ts'
import { getOpenWorkspaceForShare, getWorkspaceForShare } from '../../ground/database/lock.ts'
import { markInitial, initialWorkspace } from './initial-workspace.ts'
import { workspaceStore } from './store.ts'

type WorkspaceCreateDeps = { databases: OpenDatabases; clock: Clock }

const workspaceKey = (
  key: string,
  { name, admin, expiresAt = null }: { name: string; admin: boolean; expiresAt?: string | null },
) => ({ key, name, kind: 'workspace', admin, environmentId: null, expiresAt }) as const

const firstKey = (key: string) => workspaceKey(key, { name: 'first key', admin: true })

/** Throws for a name that a command refuses. */
export function checkName(name: string): void {
  if (name.length < 1 || name.length > 256 || /\p{Cc}/u.test(name))
    throw new Error('a name has 1 to 256 characters, and is one line')
}

/** Throws when a workspace, but `own`, has the name: commands name workspaces by it. */
export async function checkNewName(control: Reads, name: string, own?: string): Promise<void> {
  const [id] = (await workspaceStore(control).named(name)).filter((each) => each !== own)
  if (id !== undefined)
    throw new Error(
      `a workspace has the name ${name} already: give another name, or make a key of that workspace by create-key ${id}`,
    )
}

/** Creates a workspace and its first key, a workspace-admin key. Only this answer shows the key. */
export async function createWorkspace(
  { databases, clock }: WorkspaceCreateDeps,
  name: string,
): Promise<{ workspace: string; key: string }> {
  checkName(name)
  const key = newToken('workspace')
  return databases.control.write(async (tx) => ({
    workspace: await createWithKey(tx, name, key, clock.now()),
    key,
  }))
}

/** Creates a further key of a workspace that is not archived. `workspace`: an id or a name. Only this answer shows it. */
export function createKey(
  { databases, clock }: WorkspaceCreateDeps,
  workspace: string,
  made: { name: string; admin: boolean; expiresAt?: string },
): Promise<{ workspace: string; id: string; name: string; admin: boolean; key: string }> {
  const key = newToken('workspace')
  return databases.control.write(async (tx) => {
    const tenant = await workspaceId(tx, workspace)
    await getOpenWorkspaceForShare(tx, tenant)
    const { id, name, admin } = await apiKeyStore(tx).create(
      tenant,
      workspaceKey(key, made),
      clock.now(),
    )
    return { workspace: tenant, id, name, admin, key }
  })
}

export async function workspaceId(tx: Queries, idOrName: string): Promise<string> {
  const found = await workspaceStore(tx).named(idOrName)
  const [first, ...others] = found
  if (!first) throw new Error(`no workspace has the id or the name ${idOrName}`)
  if (others.length > 0)
    throw new Error(
      `${found.length} workspaces have the name ${idOrName}: name one by its id: ${found.join(', ')}`,
    )
  auditWorkspace(first)
  return first
}

/**
 * Adds the configured `API_KEY` to the first workspace, unless it exists. The setting may change at any start. An
 * archived workspace has no valid key and gets none: its owner has ended it, and the other workspaces go on.
 */
export async function ensureInitialWorkspace(
  { databases, clock, log }: WorkspaceCreateDeps & { log: Log },
  apiKey: string | undefined,
): Promise<void> {
  if (apiKey === undefined) return
  const archived = await databases.control.write(async (tx) => {
    const known = await apiKeyStore(tx).byHash(hashToken(apiKey))
    if (known) return undefined
    const first = await firstWorkspace(tx, clock.now())
    const { archived_at } = await getWorkspaceForShare(tx, first)
    if (archived_at !== null) return first
    await apiKeyStore(tx).create(first, firstKey(apiKey), clock.now())
    return undefined
  })
  if (archived !== undefined)
    log.warn(
      'the key of API_KEY is not valid, because the first workspace is archived: unarchive the workspace and start again',
      { workspace: archived },
    )
}

/** The first workspace, created when it is missing, without a key: its owner signs in. */
export async function firstWorkspace(tx: Queries, now: number): Promise<string> {
  const first = await initialWorkspace(tx)
  if (first !== undefined) return first
  const id = newId('workspace')
  await workspaceStore(tx).create(id, 'default', now)
  await markInitial(tx, id)
  return id
}

async function createWithKey(tx: Queries, name: string, key: string, now: number): Promise<string> {
  const id = newId('workspace')
  await workspaceStore(tx).create(id, name, now)
  await apiKeyStore(tx).create(id, firstKey(key), now)
  return id
}
