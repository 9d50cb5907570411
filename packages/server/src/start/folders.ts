/** The working folders of sessions, for people who look at them. */
import { resolve } from 'node:path'
import type { Clock } from '@steward/base/time.ts'
import { archivesIn } from '../engine/folders/archives.ts'
import { sessionFolders } from '../engine/folders/session-folders.ts'
import type { BlobKeeping } from '../ground/blobs/blob-keeping.ts'
import type { Config } from '../ground/config/config.ts'
import type { Share } from '../ground/core/share.ts'
import type { Databases } from '../ground/database/database.ts'
import { checkpoints } from '../resources/checkpoints/checkpoints.ts'

type FoldersDeps = { databases: Databases; keeping: BlobKeeping; clock: Clock; share: Share }

export function foldersOf(config: Config, { databases, keeping, clock, share }: FoldersDeps) {
  const folder = resolve(config.sandboxDir)
  const kept = checkpoints({ databases, keeping, clock, folder, ...config.checkpoints })
  const archives = archivesIn({ blobs: keeping.blobs, share })
  return { archives, folders: sessionFolders({ checkpoints: kept, archives, folder, clock }) }
}
