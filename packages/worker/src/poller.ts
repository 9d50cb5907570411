/** Polls for work while there is a free place, and runs each item. */
import type { Hints } from './hints/hints.ts'
import type { Log } from '@steward/base/log.ts'
import type { ClaimClient, WorkAssignment, WorkService } from './service.ts'
import { isRefusal } from './service.ts'

export type PollerOptions = {
  service: Pick<WorkService, 'poll' | 'claim' | 'acknowledge'>
  /** A hint causes a poll at once. */
  hints: Hints
  /** Largest number of items that run at once. */
  most: number
  /** Delay between polls that found nothing, in ms. */
  pauseMs: number
  reclaimMs: number
  /** True when items are acknowledged here, before their lane starts. */
  acknowledges: boolean
  run: (item: WorkAssignment, claim: ClaimClient, signal: AbortSignal) => Promise<void>
  /** Called once, with the first answer: the service has accepted the key. */
  reached: () => void
  log: Log
}

const blockMs = 999
/** Shortest delay between two polls, also when the service answers at once. */
const shortestPauseMs = 500
const acknowledgeWithinMs = 30_000
const [firstPauseMs, longestPauseMs] = [1_000, 60_000]

/**
 * Resolves when the signal has aborted and all items have ended. Rejects when the service refuses this worker for good.
 * The failure of one item does not affect the others.
 */
export async function pollOn(polling: PollerOptions, signal: AbortSignal): Promise<void> {
  const { service, hints, most, pauseMs, reclaimMs, reached, log } = polling
  let wasReached = false
  const running = new Set<Promise<void>>()
  let failures = 0
  const rest = (ms: number) => hints.wait(Math.max(0, ms), signal)
  try {
    while (!signal.aborted) {
      if (running.size >= most) {
        await oneEnded(running, signal)
        continue
      }
      try {
        const begun = performance.now()
        const hinted = hints.open()
        const wait = { blockMs: wasReached ? blockMs : 0, reclaimMs }
        const item = await service.poll(wait, signal)
        if (!wasReached) reached()
        wasReached = true
        failures = 0
        if (item) start(item)
        await hints.settle(hinted)
        if (!item) await rest(Math.max(pauseMs, shortestPauseMs) - (performance.now() - begun))
      } catch (error) {
        if (signal.aborted) break
        if (isRefusal(error)) throw error
        const waitMs = Math.min(firstPauseMs * 2 ** failures++, longestPauseMs)
        log.warn('the poll failed', { error: (error as Error).message, wait_ms: waitMs })
        await rest(waitMs)
      }
    }
  } finally {
    await Promise.all(running)
  }

  function start(item: WorkAssignment): void {
    const run = serve(polling, item, signal).finally(() => running.delete(run))
    running.add(run)
  }
}

/** Never rejects. */
async function serve(
  { service, acknowledges, run, log }: PollerOptions,
  item: WorkAssignment,
  signal: AbortSignal,
) {
  const { work, session } = item
  log.info('claimed', { work, session })
  try {
    const claim = service.claim(item)
    if (acknowledges) await service.acknowledge(item, AbortSignal.timeout(acknowledgeWithinMs))
    await run(item, claim, signal)
  } catch (error) {
    log.warn('the item was left', { work, session, error: (error as Error).message })
  }
}

/** Resolves when an item has ended, or the signal has aborted. Leaves no listener on the signal. */
async function oneEnded(running: ReadonlySet<Promise<void>>, signal: AbortSignal): Promise<void> {
  const waited = new AbortController()
  const aborted = new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { signal: waited.signal })
  })
  await Promise.race([...running, aborted])
  waited.abort()
}
