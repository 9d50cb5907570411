/** The removal of workspaces: its parts, in the order of removal. */
import { resolve } from 'node:path'
import { removeTree } from '@steward/sandbox/remove-tree.ts'
import type { Config } from '../ground/config/config.ts'
import type { Job } from '../ground/core/time/jobs.ts'
import { createContentsRemoval } from '../sessions/workspace.ts'
import { removalJob } from '../tenants/workspaces/job.ts'
import type { ContentsDeps } from '../sessions/workspace.ts'

/** Folders below DATA_DIR with a folder for each workspace. */
const folders = ['repositories', 'packages', 'skills']

export function workspaceRemoval(
  { dataDir }: Config,
  deps: ContentsDeps & { sandboxPool: { removeLeft: () => Promise<void> } },
): Job {
  /** On SQLite there is no other machine: the runner that ends a session also removes its folder. */
  const hasOthers = deps.databases.control.dialect === 'postgres'
  return removalJob({
    ...deps,
    ...createContentsRemoval(deps),
    async removeHere(tenants) {
      if (hasOthers) await deps.sandboxPool.removeLeft()
      for (const tenant of tenants)
        for (const folder of folders) await removeTree(resolve(dataDir, folder, tenant))
    },
  })
}
