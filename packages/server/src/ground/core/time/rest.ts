/**
 * Collects garbage when the process becomes idle, which delays nobody. V8 collects only when it needs memory, so that
 * after an hour of work an idle process would keep several times the memory that it needs.
 */
import { Session } from 'node:inspector/promises'
import { performance } from 'node:perf_hooks'
import type { Job } from './jobs.ts'

const usual = {
  lookMs: 10_000,
  /** Consecutive checks that must find the process idle. */
  looks: 3,
  /** Share of the time for which the event loop of an idle process may be busy. */
  busyShare: 0.05,
  /** Growth in bytes that is worth a pause. The young generation alone may take as much. */
  worthBytes: 24 * 1024 * 1024,
}

/** A job that collects garbage. After a failed collection none is tried again. */
export function restJob({ lookMs, looks, busyShare, worthBytes } = usual): Job {
  let before = performance.eventLoopUtilization()
  let left = process.memoryUsage.rss()
  let rested = 0
  let isBroken = false

  async function look(): Promise<void> {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    rested = utilization > busyShare ? 0 : rested + 1
    if (rested < looks || process.memoryUsage.rss() - left < worthBytes) return
    rested = 0
    isBroken = true
    await collect()
    isBroken = false
    left = process.memoryUsage.rss()
  }

  return {
    name: 'return memory at rest',
    everyMs: lookMs,
    async run() {
      if (!isBroken) await look()
    },
  }
}

/** Collects all garbage. Unlike usual collections, it also returns free pages to the system. */
async function collect(): Promise<void> {
  const session = new Session()
  session.connect()
  await session.post('HeapProfiler.collectGarbage')
  session.disconnect()
}
