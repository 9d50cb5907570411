/** What nobody waits for: bytes of files that expired, were deleted, or never became files. */
import type { Keeping } from '../../ground/blobs/keeping.ts'
import type { Log } from '@steward/base/log.ts'
import type { Sweep } from '../../ground/core/sweep.ts'
import { sweeping } from '../../ground/core/sweep.ts'
import type { Clock } from '@steward/base/time.ts'
import type { Databases } from '../../ground/database/database.ts'
import { sweepExpired } from './remove.ts'

const pauseMs = 30_000

/** Sweeps until it is closed. */
export function fileSweep(deps: {
  databases: Databases
  clock: Clock
  keeping: Keeping
  log: Log
}): Sweep {
  const { keeping, log } = deps
  const pass = async () => {
    const expired = await sweepExpired(deps)
    const swept = await keeping.sweep()
    for (const error of swept.failures) log.warn('bytes could not be removed yet', { error })
    return expired && swept.isAll
  }
  return sweeping('files', pass, { pauseMs, ...deps })
}
