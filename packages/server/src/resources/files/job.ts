/** Removes the bytes of files that expired, were deleted, or were never completed. */
import type { BlobKeeping } from '../../ground/blobs/blob-keeping.ts'
import { completeEach } from '../../ground/core/failures.ts'
import type { Job } from '../../ground/core/time/jobs.ts'
import type { Ground } from '../../ground/ground.ts'
import { removeExpiredFiles } from './remove.ts'

const everyMs = 30_000

export function fileJob(
  deps: Ground & {
    keeping: BlobKeeping
  },
): Job {
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
