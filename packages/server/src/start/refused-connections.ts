/** The log of connections that were ended because there was one too many. Callers decide how many there are. */
import type { Log } from '@steward/base/log.ts'
import { listenWith } from '@steward/base/observation.ts'
import type { Clock } from '@steward/base/time.ts'
import { connectionRefused } from '../ground/http/connections.ts'

const spanMs = 60_000

/** Warns of the first one, and once in a minute of those since. Returns the function that ends it. */
export function logRefusedConnections(log: Log, clock: Clock): () => void {
  let count = 0
  let nextMs = 0
  const listen = listenWith((error) => log.error('connections could not be counted', { error }))
  return listen(connectionRefused, () => {
    count++
    if (clock.now() < nextMs) return
    log.warn(
      'connections were ended, because this process can have no more: those without a credential first',
      { count },
    )
    count = 0
    nextMs = clock.now() + spanMs
  })
}
