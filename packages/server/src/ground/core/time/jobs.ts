/** Periodic work of a process, beside its requests and turns. */
import { createObservation } from '@steward/base/observation.ts'
import type { Log } from '@steward/base/log.ts'
import type { Clock } from '@steward/base/time.ts'

export type Job = {
  /** Unique name of the job, also in the log. */
  name: string
  /** Milliseconds from the end of a run to the start of the next one. */
  everyMs: number
  /**
   * A bounded part of the work. False: more is left, and the next run follows at once. The signal aborts at the stop.
   */
  run: (signal: AbortSignal) => Promise<boolean | void>
  /**
   * Called once, before the first run; `runNow` ends the pause. The job awaits the returned function after its last
   * run.
   */
  start?: (runNow: () => void) => () => unknown
}

/** A run of a job that has ended. `at`: when it began, in ms since the epoch. */
export const jobRan = createObservation<{ job: string; at: number; ms: number; failed: boolean }>(
  'job-ran',
)

export type RunningJobs = {
  /** Stops one job, or all of them. Resolves after the current runs. */
  stop: (name?: string) => Promise<void>
}

type JobDeps = { clock: Clock; log: Log }

/** The longest pause after a failed run of a job that is notified: its news must not wait for the next poll. */
const failedMs = 15_000

/** Starts the jobs. A run that throws is logged and counts as complete, so that the next run follows after a pause. */
export function startJobs(jobs: readonly Job[], deps: JobDeps): RunningJobs {
  if (new Set(jobs.map(({ name }) => name)).size < jobs.length)
    throw new Error('two jobs have the same name')
  const stops = new Map(jobs.map((job) => [job.name, startJob(job, deps)]))
  return {
    async stop(name) {
      const stopping = name === undefined ? [...stops.values()] : [stops.get(name)]
      await Promise.all(stopping.map(async (stop) => stop?.()))
    },
  }
}

function startJob(job: Job, { clock, log }: JobDeps) {
  const { name, everyMs } = job
  const stopping = new AbortController()
  let early = new AbortController()
  const end = job.start?.(() => early.abort())
  const pauseAfterFailureMs = job.start ? Math.min(everyMs, failedMs) : everyMs

  /** Returns the pause before the next run, 0 when more is left. */
  async function runOnce(): Promise<number> {
    const at = clock.now()
    let failed = false
    const result = await job.run(stopping.signal).catch((error: unknown) => {
      failed = true
      log.error('a job failed', { job: name, error })
    })
    const isComplete = result !== false
    const ms = clock.now() - at
    jobRan.tell({ job: name, at, ms, failed })
    log.debug('a job ran', { job: name, took_ms: ms, is_complete: isComplete })
    if (failed) return pauseAfterFailureMs
    return isComplete ? everyMs : 0
  }

  async function runUntilStopped(): Promise<void> {
    while (!stopping.signal.aborted) {
      const pauseMs = await runOnce()
      if (pauseMs === 0) continue
      await clock.sleep(pauseMs, AbortSignal.any([stopping.signal, early.signal]))
      early = new AbortController()
    }
    await end?.()
  }

  const done = runUntilStopped()
  return (): Promise<void> => {
    stopping.abort()
    return done
  }
}
