/**
 * V8 collects when it needs room and not when there is time: after an hour of work a process that rests would hold
 * several times what it needs, for good. Here it collects once it has come to rest, which then delays nobody.
 */
import { Session } from 'node:inspector/promises'
import { performance } from 'node:perf_hooks'
import type { Job } from './jobs.ts'

const usual = {
  lookMs: 10_000,
  /** So many looks in a row at rest. */
  looks: 3,
  /** Of a look's time that the event loop may be busy at rest. */
  busyShare: 0.05,
  /** Less than this, as much as the young generation may take, is not worth a pause. */
  worthBytes: 24 * 1024 * 1024,
}

/** After a collection that failed none is tried again. */
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
      return true
    },
  }
}

/** Gives the pages that came free back to the system as well, unlike the collections of every day. */
async function collect(): Promise<void> {
  const session = new Session()
  session.connect()
  await session.post('HeapProfiler.collectGarbage')
  session.disconnect()
}
