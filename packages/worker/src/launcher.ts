/**
 * The strategy `acquire_then_session_poll`: starts a sandbox for each waiting item or hint. The worker inside the
 * sandbox claims; this process claims nothing.
 */
import type { Hints } from './hints/hints.ts'
import type { Log } from '@steward/base/log.ts'
import type { WorkService } from './service.ts'
import { isRefusal } from './service.ts'

export type LaunchOptions = {
  service: Pick<WorkService, 'depth'>
  /** A hint causes a look at once, and starts a sandbox when the queue's depth cannot be read. */
  hints: Hints
  most: number
  pauseMs: number
  /** How long a sandbox may take until its first poll, in ms. */
  startMs: number
  launch: (signal: AbortSignal) => Promise<void>
  /** Called once, with the first answer: the service has accepted the key. */
  reached: () => void
  log: Log
}

const shortestPauseMs = 200

/**
 * Resolves and rejects like `pollOn`. A sandbox whose worker finds no work ends by itself. A hint is settled when its
 * sandbox has ended, or when no work waits.
 */
export async function launchOn(launching: LaunchOptions, signal: AbortSignal): Promise<void> {
  const { service, hints, most, pauseMs, startMs, launch, reached, log } = launching
  let wasSeen = false
  const running = new Map<Promise<void>, { begun: number; hint: string | undefined }>()
  try {
    while (!signal.aborted) {
      const taken = new Set([...running.values()].map(({ hint }) => hint))
      const hinted = hints.open().filter((each) => !taken.has(each))
      const depth = await look(hinted)
      if (signal.aborted) break
      const now = performance.now()
      const young = [...running.values()].filter(({ begun }) => now - begun < startMs).length
      const wanted = depth === undefined ? hinted.length : Math.max(0, depth - young)
      const count = Math.min(wanted, most - running.size)
      for (let n = 0; n < count; n++) start(hinted[n])
      if (depth !== undefined) await hints.settle(hinted.slice(wanted))
      const roomOrStop = wanted > count ? AbortSignal.any([signal, oneEnds()]) : signal
      await hints.wait(Math.max(pauseMs, shortestPauseMs), roomOrStop)
    }
  } finally {
    await Promise.all(running.keys())
  }

  /** The number of unclaimed items; undefined when it cannot be read now. */
  async function look(hinted: readonly string[]): Promise<number | undefined> {
    try {
      const depth = await service.depth(signal)
      if (!wasSeen) {
        reached()
        log.info('the queue was seen', { waiting: depth })
      }
      wasSeen = true
      return depth
    } catch (error) {
      if (isRefusal(error)) throw error
      if (!signal.aborted)
        log.warn('the queue was not seen', {
          error: (error as Error).message,
          hints: hinted.length,
        })
      return undefined
    }
  }

  function oneEnds(): AbortSignal {
    const ended = new AbortController()
    void Promise.race(running.keys()).then(() => ended.abort())
    return ended.signal
  }

  function start(hint: string | undefined): void {
    log.info('a sandbox starts', hint === undefined ? {} : { hint })
    const run = launch(signal)
      .catch((error: Error) => log.warn('a sandbox was left', { error: error.message }))
      .then(() => hints.settle(hint === undefined ? [] : [hint]))
      .catch((error: Error) => log.warn('a hint was not settled', { error: error.message }))
      .finally(() => running.delete(run))
    running.set(run, { begun: performance.now(), hint })
  }
}
