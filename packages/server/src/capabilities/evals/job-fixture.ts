/** For tests: a job whose pieces of work hang until the test ends them. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { movedClock } from '@steward/base/time-fixture.ts'
import type { Job } from '../../ground/core/time/jobs.ts'
import type { Database } from '../../ground/database/database.ts'
import type { Ground } from '../../ground/ground.ts'
import { testGround } from '../../ground/ground-fixture.ts'

type HeldRun = { id: string; canceled?: AbortSignal }

type HeldJobDeps = Ground & {
  drive: (run: HeldRun) => Promise<void>
}

/** The id of each piece begins with its tenant. */
export function heldJob(database: Database, create: (deps: HeldJobDeps) => Job) {
  const clock = movedClock()
  const held = new Map<string, HeldRun & { done: PromiseWithResolvers<void> }>()
  let looks = 0
  const job = create({
    ...testGround(database, { clock }),
    drive(run) {
      const done = Promise.withResolvers<void>()
      held.set(run.id, { ...run, done })
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

type DrivenJob = {
  open: () => Promise<AsyncDisposable & { database: Database }>
  create: (deps: HeldJobDeps) => Job
  /** Inserts pieces of a tenant, with the ids `TENANT_0`, `TENANT_1` and so on. */
  insert: (database: Database, tenant: string, count: number) => Promise<void>
}

/** The tests of every job that drives its pieces by `createDueWork`. */
export function itDrivesItsWork({ open, create, insert }: DrivenJob): void {
  it('drives the work of another tenant, however much of one tenant hangs', async () => {
    await using opened = await open()
    const job = heldJob(opened.database, create)
    await insert(opened.database, 'greedy', 60)
    await insert(opened.database, 'other', 1)
    await job.run()
    assert.equal(job.of('other'), 1)
    assert.ok(job.of('greedy') > 20 && job.of('greedy') < 50, `${job.of('greedy')}`)
  })

  it('looks again when a slot becomes free, and not at once for work that failed', async () => {
    await using opened = await open()
    const job = heldJob(opened.database, create)
    await insert(opened.database, 'greedy', 60)
    await job.run()
    const most = job.of('greedy')
    await job.end('greedy_0', ({ reject }) => reject(new Error('away')))
    assert.equal(job.looks(), 1)
    await job.run()
    assert.equal(job.of('greedy'), most)
    assert.ok(!job.held.has('greedy_0'), 'work that failed rests')
    await job.clock.pass(10_000)
    assert.equal(job.looks(), 2, 'its rest is over')
    await job.end('greedy_1', ({ resolve }) => resolve())
    assert.equal(job.looks(), 3)
    await job.run()
    assert.equal(job.of('greedy'), most)
  })

  it('drives work that could not go on again after its rest, and not with the next poll', async () => {
    await using opened = await open()
    const job = heldJob(opened.database, create)
    await insert(opened.database, 'one', 1)
    await job.run()
    await job.end('one_0', ({ reject }) => reject(new Error('away')))
    const before = job.looks()
    await job.clock.pass(10_000)
    assert.equal(job.looks(), before + 1)
    await job.run()
    assert.ok(job.held.has('one_0'))
  })
}
