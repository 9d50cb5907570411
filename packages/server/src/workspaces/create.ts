/** Workspaces are made by operators: the first at the first start, others by a command. */
import { apiKeyStore } from '../api-keys/store.ts'
import { newId } from '../core/ids.ts'
import type { Clock } from '../core/time.ts'
import { hashToken, newToken } from '../core/token.ts'
import type { Databases, Queries } from '../database/database.ts'
import { workspaceStore } from './store.ts'

type Deps = { databases: Databases; clock: Clock }

const adminKey = (key: string) =>
  ({
    key,
    name: 'first key',
    kind: 'workspace',
    admin: true,
    environmentId: null,
    expiresAt: null,
  }) as const

/** A workspace and its first key, a workspace-admin's, which is shown here and never again. */
export function createWorkspace(
  { databases, clock }: Deps,
  name: string,
): Promise<{ workspace: string; key: string }> {
  const key = newToken('workspace')
  return databases.control.write(async (tx) => ({
    workspace: await make(tx, name, key, clock.now()),
    key,
  }))
}

/** Once: the workspace that the configured `API_KEY` owns. The key may be changed in the configuration at any start. */
export async function ensureInitialWorkspace(
  { databases, clock }: Deps,
  apiKey: string | undefined,
): Promise<void> {
  await databases.control.write(async (tx) => {
    const first = await workspaceStore(tx).first()
    if (apiKey === undefined) return
    const known = await apiKeyStore(tx).byHash(hashToken(apiKey))
    if (known) return
    if (!first) await make(tx, 'default', apiKey, clock.now())
    else await apiKeyStore(tx).create(first.id, adminKey(apiKey), clock.now())
  })
}

async function make(tx: Queries, name: string, key: string, now: number): Promise<string> {
  const id = newId('workspace')
  await workspaceStore(tx).create(id, name, now)
  await apiKeyStore(tx).create(id, adminKey(key), now)
  return id
}
