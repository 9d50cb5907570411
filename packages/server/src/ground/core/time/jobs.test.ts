import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { jsonLog } from '@steward/base/log.ts'
import type { Clock } from '@steward/base/time.ts'
import type { Job } from './jobs.ts'
import { jobRan, startJobs } from './jobs.ts'

/** A clock whose pauses end by `tick` alone, and a log that keeps its records. */
function stage() {
  let now = 0
  const records: Record<string, unknown>[] = []
  const pauses: { ms: number; end: () => void }[] = []
  let seen = () => {}
  const clock: Clock = {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise<void>((resolve) => {
        if (signal.aborted) return resolve()
        pauses.push({ ms, end: resolve })
        signal.addEventListener('abort', () => resolve())
        seen()
      }),
  }
  const log = jsonLog((line) => records.push(JSON.parse(line) as Record<string, unknown>), 'debug')
  return {
    ...{ clock, log, records, pauses },
    advance: (ms: number) => (now += ms),
    async untilPauses(count: number): Promise<void> {
      while (pauses.length < count) await new Promise<void>((resolve) => (seen = resolve))
    },
  }
}

describe('jobs', () => {
  it('run at once and after each pause, and again without a pause if more remains', async () => {
    const at = stage()
    const answers = [false, false, true, true]
    let runs = 0
    const job: Job = { name: 'remove dust', everyMs: 50, run: async () => answers[runs++] ?? true }
    const jobs = startJobs([job], at)
    await at.untilPauses(1)
    assert.equal(runs, 3)
    at.pauses[0]?.end()
    await at.untilPauses(2)
    assert.equal(runs, 4)
    await jobs.stop()
    assert.deepEqual(
      at.pauses.map(({ ms }) => ms),
      [50, 50],
    )
  })

  it('report when each run began and how long it took, and log so at debug', async () => {
    const at = stage()
    const slow: Job = {
      name: 'remove dust',
      everyMs: 50,
      run: async () => Boolean(at.advance(7)),
    }
    const broken: Job = {
      name: 'feed fish',
      everyMs: 90,
      run: () => Promise.reject(new Error('no food')),
    }
    const runs: object[] = []
    const unlisten = jobRan.listen(
      (run) => runs.push(run),
      () => assert.fail(),
    )
    const jobs = startJobs([slow, broken], at)
    await at.untilPauses(2)
    unlisten()
    assert.deepEqual(runs, [
      { job: 'remove dust', at: 0, ms: 7, failed: false },
      { job: 'feed fish', at: 7, ms: 0, failed: true },
    ])
    const told = at.records.map(({ level, message, job }) => [level, message, job])
    assert.deepEqual(
      told.toSorted((one, two) => String(one).localeCompare(String(two))),
      [
        ['debug', 'a job ran', 'feed fish'],
        ['debug', 'a job ran', 'remove dust'],
        ['error', 'a job failed', 'feed fish'],
      ],
    )
    assert.ok(at.records.some(({ took_ms }) => took_ms === 7))
    await jobs.stop()
  })

  it('run early when news comes, also when it comes during a run', async () => {
    const at = stage()
    let notify = () => {}
    let runs = 0
    const job: Job = {
      name: 'read post',
      everyMs: 1000,
      async run() {
        if (++runs === 2) notify()
        return true
      },
      start(runNow) {
        notify = runNow
        return () => {}
      },
    }
    const jobs = startJobs([job], at)
    await at.untilPauses(1)
    notify()
    await at.untilPauses(2)
    assert.equal(runs, 3)
    await jobs.stop()
  })

  it('run again soon after a run that failed, where news may wait for them', async () => {
    const at = stage()
    const broken: Omit<Job, 'name'> = {
      everyMs: 60_000,
      run: () => Promise.reject(new Error('the database is away')),
    }
    const polled: Job = { ...broken, name: 'remove dust' }
    const notified: Job = { ...broken, name: 'read post', start: () => () => {} }
    const jobs = startJobs([polled, notified], at)
    await at.untilPauses(2)
    assert.deepEqual(
      at.pauses.map(({ ms }) => ms),
      [60_000, 15_000],
    )
    await jobs.stop()
  })

  it('stop alone or together, after the run that is under way and before their end', async () => {
    const at = stage()
    const order: string[] = []
    const slow = (name: string): Job => ({
      name,
      everyMs: 10,
      run: (signal) =>
        new Promise((resolve) =>
          signal.addEventListener('abort', () => {
            order.push(`${name} ran`)
            resolve(false)
          }),
        ),
      start: () => () => void order.push(`${name} ended`),
    })
    const jobs = startJobs([slow('first'), slow('second')], at)
    await jobs.stop('first')
    assert.deepEqual(order, ['first ran', 'first ended'])
    await jobs.stop()
    assert.deepEqual(order.slice(2), ['second ran', 'second ended'])
    assert.equal(at.pauses.length, 0)
  })

  it('have names of their own', () => {
    const job: Job = { name: 'twice', everyMs: 10, run: async () => true }
    assert.throws(() => startJobs([job, job], stage()), /two jobs have the same name/)
  })
})
