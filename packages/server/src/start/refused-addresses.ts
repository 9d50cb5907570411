/** The log of addresses that were not dialled. A workspace decides how many there are. */
import type { Log } from '@steward/base/log.ts'
import type { Clock } from '@steward/base/time.ts'
import type { Namer, ResolvedAddress } from '../ground/core/security/dial.ts'

const spanMs = 60_000
/** Lines in a span. */
const most = 100

/** Logs each place once in a minute, and 100 places at most. */
export function refusedAddresses(log: Log, clock: Clock) {
  const logged = new Set<string>()
  let endsMs = 0
  return (namer: Namer) => (address: ResolvedAddress) => {
    if (clock.now() >= endsMs) {
      logged.clear()
      endsMs = clock.now() + spanMs
    }
    const key = `${namer} ${address.host} ${address.port} ${address.address}`
    if (logged.size >= most || logged.has(key)) return
    logged.add(key)
    log.info('a private or reserved address was not dialled', { named_by: namer, ...address })
  }
}
