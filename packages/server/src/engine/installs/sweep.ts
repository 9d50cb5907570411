/** What nobody waits for: layers of packages that no session has used for long. */
import type { Log } from '@steward/base/log.ts'
import type { Sweep } from '../../ground/core/sweep.ts'
import { sweeping } from '../../ground/core/sweep.ts'
import type { Clock } from '@steward/base/time.ts'
import type { Layers } from './layers.ts'

const pauseMs = 60 * 60_000

/** Sweeps until it is closed. */
export function packageSweep(deps: { layers: Layers; clock: Clock; log: Log }): Sweep {
  const pass = async () => {
    await deps.layers.sweep()
    return true
  }
  return sweeping('layers of packages', pass, { pauseMs, ...deps })
}
