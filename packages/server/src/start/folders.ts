/** The working folders of sessions, for people who look at them. */
import { resolve } from 'node:path'
import { archivesIn } from '../engine/folders/archives.ts'
import { sessionFolders } from '../engine/folders/session-folders.ts'
import type { BlobKeeping } from '../ground/blobs/blob-keeping.ts'
import type { Config } from '../ground/config/config.ts'
import type { Share } from '../ground/core/fairness/share.ts'
import type { Ground } from '../ground/ground.ts'
import { createCheckpoints } from '../resources/checkpoints/checkpoints.ts'

export function createFolders(
  config: Config,
  deps: Ground & { keeping: BlobKeeping; share: Share },
) {
  const { clock, keeping, share } = deps
  const folder = resolve(config.sandboxDir)
  const kept = createCheckpoints({ ...deps, folder, ...config.checkpoints })
  const archives = archivesIn({ blobs: keeping.blobs, share })
  return { archives, folders: sessionFolders({ checkpoints: kept, archives, folder, clock }) }
}
