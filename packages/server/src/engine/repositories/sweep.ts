/** What nobody waits for: mirrors that no session has used for a week. */
import type { Log } from '@steward/base/log.ts'
import type { Sweep } from '../../ground/core/sweep.ts'
import { sweeping } from '../../ground/core/sweep.ts'
import type { Clock } from '@steward/base/time.ts'
import type { Mirrors } from './mirror.ts'

const pauseMs = 60 * 60_000

/** Sweeps until it is closed. */
export function mirrorSweep({
  mirrors,
  ...deps
}: {
  mirrors: Pick<Mirrors, 'sweep'>
  clock: Clock
  log: Log
}): Sweep {
  const pass = async () => {
    await mirrors.sweep()
    return true
  }
  return sweeping('mirrors of repositories', pass, { pauseMs, ...deps })
}
