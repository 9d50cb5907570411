/** Turns that waited long enough for the stdio servers of their worker go on without them. */
import type { Bus } from '../../ground/bus/bus.ts'
import type { Log } from '@steward/base/log.ts'
import type { Sweep } from '../../ground/core/sweep.ts'
import { sweeping } from '../../ground/core/sweep.ts'
import type { Clock } from '@steward/base/time.ts'
import type { Databases } from '../../ground/database/database.ts'
import { lockHead } from '../log/head.ts'
import { append } from '../log/log.ts'
import { wake } from '../log/topics.ts'
import { marginMs } from './standing.ts'
import { stdioStore } from './store.ts'

const pauseMs = 5_000
const limit = 50

/** Sweeps until it is closed. */
export function stdioSweep(deps: {
  databases: Databases
  bus: Bus
  clock: Clock
  log: Log
}): Sweep {
  const { databases, bus, clock } = deps
  const pass = async () => {
    let isAll = true
    for (const database of databases.all()) {
      const found = await stdioStore(database.read).overdue(clock.now(), { marginMs, limit })
      for (const { tenant_id: tenant, session_id: session } of found) {
        await database.write(async (tx) => {
          const { awaits_stdio } = await lockHead(tx, tenant, session)
          if (awaits_stdio === 1)
            await append(tx, tenant, session, [], { now: clock.now(), due: true })
        })
        wake(bus, { tenant, session })
      }
      isAll &&= found.length < limit
    }
    return isAll
  }
  return sweeping('waiting for stdio servers', pass, { pauseMs, ...deps })
}
