/** The strategy `acquire_then_session_poll`: sandboxes for what waits, in each a worker that claims for itself. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from './log.ts'
import type { Service } from './service.ts'
import { isRefusal } from './service.ts'

export type Launching = {
  service: Pick<Service, 'depth'>
  most: number
  pauseMs: number
  /** How long a sandbox may take to its first poll. */
  startMs: number
  launch: (signal: AbortSignal) => Promise<void>
  log: Log
}

const shortestPauseMs = 200

/** Resolves and rejects as `pollOn`. One that finds nothing to claim ends by itself. */
export async function launchOn(launching: Launching, signal: AbortSignal): Promise<void> {
  const { service, most, pauseMs, startMs, launch, log } = launching
  const running = new Map<Promise<void>, number>()
  try {
    while (!signal.aborted) {
      try {
        const depth = await service.depth(signal)
        const now = performance.now()
        const young = [...running.values()].filter((begun) => now - begun < startMs).length
        const wanted = Math.min(depth - young, most - running.size)
        for (let i = 0; i < wanted; i++) start()
      } catch (error) {
        if (signal.aborted) break
        if (isRefusal(error)) throw error
        log('the queue was not seen', { error: (error as Error).message })
      }
      const pause = delay(Math.max(pauseMs, shortestPauseMs), undefined, { signal })
      await pause.catch(() => {})
    }
  } finally {
    await Promise.all(running.keys())
  }

  function start(): void {
    const run = launch(signal)
      .catch((error: Error) => log('a sandbox was left', { error: error.message }))
      .finally(() => running.delete(run))
    running.set(run, performance.now())
  }
}
