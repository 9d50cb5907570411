/**
 * V8 collects when it needs room and not when there is time: after an hour of work a process that rests would hold
 * several times what it needs, for good. Here it collects once it has come to rest, which then delays nobody.
 */
import { Session } from 'node:inspector/promises'
import { performance } from 'node:perf_hooks'

const usual = {
  lookMs: 10_000,
  /** So many looks in a row at rest. */
  looks: 3,
  /** Of a look's time that the event loop may be busy at rest. */
  busyShare: 0.05,
  /** Less than this, as much as the young generation may take, is not worth a pause. */
  worthBytes: 24 * 1024 * 1024,
}

/** The returned function ends it. `fail` is told when a collection could not be made; none is tried again then. */
export function returnMemoryAtRest(
  fail: (error: unknown) => void,
  { lookMs, looks, busyShare, worthBytes } = usual,
): () => void {
  let before = performance.eventLoopUtilization()
  let left = process.memoryUsage.rss()
  let rested = 0

  async function look(): Promise<void> {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    rested = utilization > busyShare ? 0 : rested + 1
    if (rested < looks || process.memoryUsage.rss() - left < worthBytes) return
    rested = 0
    await collect()
    left = process.memoryUsage.rss()
  }

  const looking = setInterval(() => {
    look().catch((error: unknown) => {
      clearInterval(looking)
      fail(error)
    })
  }, lookMs).unref()
  return () => clearInterval(looking)
}

/** Gives the pages that came free back to the system as well, unlike the collections of every day. */
async function collect(): Promise<void> {
  const session = new Session()
  session.connect()
  await session.post('HeapProfiler.collectGarbage')
  session.disconnect()
}
