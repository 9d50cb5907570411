/** Mounts a session's memory stores into its sandbox, over the rows in the database. [resources/memory-store] */
import { join } from 'node:path'
import { runOnce } from '@steward/base/shared-runs.ts'
import type { MountedKind } from '@steward/space/mounted-kinds.ts'
import type { MountedStoreRow } from '@steward/space/memory/stores.ts'
import { mountStores } from '@steward/space/memory/stores.ts'
import type { Database } from '../../ground/database/database.ts'
import type { Ground } from '../../ground/ground.ts'
import { memoryStore } from '../../resources/memory-stores/mounted-store.ts'
import type { Quotas } from '../../tenants/limits/quotas.ts'
import { memoryStoreStore } from '../../resources/memory-stores/store.ts'
import type { MountTarget } from '../runner/sandboxes/mount-kind.ts'
import type { AttachedStore } from '../../sessions/resources/memory-stores.ts'
import { ofType, resourceStore } from '../../sessions/rows/resources.ts'

type MemoryMountTarget = Pick<MountTarget, 'tenant' | 'session' | 'folder' | 'start'>

export function mountMemory(deps: Ground & { quotas: Quotas }) {
  /** A new sandbox of a session waits until the changes of its previous sandbox are stored. */
  const ending = new Map<string, () => Promise<void>>()
  return async ({ tenant, session, folder, start }: MemoryMountTarget): Promise<MountedKind> => {
    await ending.get(session)?.()
    const database = await deps.databases.open(tenant)
    const all = await resourceStore(database.read).ofSession(tenant, session)
    const rows = ofType(all, 'memory_store')
    if (rows.length === 0) return {}
    const ids = rows.map(({ fields }) => fields.memory_store_id)
    const mounted = await mountStores({
      folder: join(folder, 'memory'),
      scratch: join(start, 'memory'),
      stores: rows.map((row) => attached(database, deps, row)),
      revisions: () => memoryStoreStore(database.read).revisions(tenant, ids),
      now: () => deps.clock.now(),
    })
    const end = runOnce(() => mounted.ended().finally(() => ending.delete(session)))
    ending.set(session, end)
    return { ...mounted, ended: end }
  }
}

function attached(
  database: Database,
  { clock, quotas }: Ground & { quotas: Quotas },
  row: AttachedStore,
): MountedStoreRow {
  const { tenant_id: tenant, session_id, resolved_path: path } = row
  const { memory_store_id: id, access } = row.fields
  const actor = { type: 'session_actor', session_id } as const
  return {
    id,
    path,
    access,
    facts: () => memoryStore(database.read).facts(tenant, id),
    contents: (paths) => memoryStore(database.read).contents(tenant, id, paths),
    async write(changes) {
      const checkRoom = await quotas.room(tenant, 'stored_bytes')
      return database.write((tx) =>
        memoryStore(tx).writeAll(tenant, id, { actor, changes }, { now: clock.now(), checkRoom }),
      )
    },
  }
}
