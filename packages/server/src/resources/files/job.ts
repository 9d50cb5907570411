/** Removes the bytes of files that expired, were deleted, or were never completed. */
import type { BlobKeeping } from '../../ground/blobs/blob-keeping.ts'
import type { Log } from '@steward/base/log.ts'
import { completeEach } from '../../ground/core/failures.ts'
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
  async function removeLoose(): Promise<boolean> {
    const { isAll, failures } = await keeping.removeLoose()
    for (const error of failures) log.warn('bytes could not be removed yet', { error })
    return isAll
  }
  const run = () =>
    completeEach([() => removeExpiredFiles(deps), removeLoose], (remove) => remove())
  return { name: 'remove files and loose blobs', everyMs, run }
}
