/** Removes the bytes of files that expired, were deleted, or were never completed. */
import type { BlobKeeping } from '../../ground/blobs/blob-keeping.ts'
import type { Log } from '@steward/base/log.ts'
import type { Job } from '../../ground/core/jobs.ts'
import type { Clock } from '@steward/base/time.ts'
import type { Databases } from '../../ground/database/database.ts'
import { removeExpiredFiles } from './remove.ts'

const everyMs = 30_000

export function fileJob(deps: {
  databases: Databases
  clock: Clock
  keeping: BlobKeeping
  log: Log
}): Job {
  const { keeping, log } = deps
  const run = async () => {
    const expired = await removeExpiredFiles(deps)
    const swept = await keeping.removeLoose()
    for (const error of swept.failures) log.warn('bytes could not be removed yet', { error })
    return expired && swept.isAll
  }
  return { name: 'remove files and loose blobs', everyMs, run }
}
