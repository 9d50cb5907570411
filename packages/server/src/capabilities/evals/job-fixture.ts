/** For tests: a job whose pieces of work hang until the test ends them. */
import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import type { Log } from '@steward/base/log.ts'
import { movedClock } from '@steward/base/time-fixture.ts'
import type { Clock } from '@steward/base/time.ts'
import type { Bus } from '../../ground/bus/bus.ts'
import { memoryBus } from '../../ground/bus/memory.ts'
import type { Job } from '../../ground/core/jobs.ts'
import type { Database, Databases } from '../../ground/database/database.ts'
import { oneDatabase } from '../../ground/database/database.ts'
import { silentLog as log } from './fixture.ts'

type HeldPlace = { id: string; canceled?: AbortSignal }

type HeldJobDeps = {
  databases: Databases
  bus: Bus
  clock: Clock
  log: Log
  drive: (place: HeldPlace) => Promise<void>
}

/** The id of each piece begins with its tenant. */
export function heldJob(database: Database, create: (deps: HeldJobDeps) => Job) {
  const clock = movedClock()
  const held = new Map<string, HeldPlace & { done: PromiseWithResolvers<void> }>()
  let looks = 0
  const job = create({
    databases: oneDatabase(database),
    bus: memoryBus(),
    clock,
    log,
    drive(place) {
      const done = Promise.withResolvers<void>()
      held.set(place.id, { ...place, done })
      return done.promise
    },
  })
  job.start?.(() => void looks++)
  return {
    held,
    clock,
    /** Number of runs that the job has asked for. */
    looks: () => looks,
    of: (tenant: string) => [...held.keys()].filter((id) => id.startsWith(`${tenant}_`)).length,
    run: () => job.run(new AbortController().signal),
    async end(id: string, end: (done: PromiseWithResolvers<void>) => void) {
      const piece = held.get(id)
      assert.ok(piece)
      held.delete(id)
      end(piece.done)
      for (let n = 0; n < 5; n++) await setImmediate()
    },
  }
}
