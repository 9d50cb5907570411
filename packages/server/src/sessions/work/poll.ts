/** Long polls: notified when work is enqueued; each then asks the database once. */
import { checkEnvironment } from '../../tenants/api-keys/environment.ts'
import type { Ground } from '../../ground/ground.ts'
import type { WorkItem, Worker } from './item.ts'
import { claimNext, returnItem } from './queue.ts'
import { createPollRecorder } from './presence.ts'
import { listenToQueue } from './topics.ts'

export type Poll = {
  /** How long the poll may wait for work. */
  blockMs: number
  reclaimMs: number
  worker: Worker
  signal: AbortSignal
}

/** `isWoken`: woken since it last asked the database. */
type PollWaiter = { isWoken: boolean; wake: () => void }

/** `random`: a number below 1. */
type PollDeps = Ground & { random?: () => number }

export function createPoller({ databases, bus, clock, random = Math.random }: PollDeps) {
  const waiting = new Map<string, Set<PollWaiter>>()
  const see = createPollRecorder(databases, clock)

  /** Wakes one waiting poll, because each item is for one poll: the poll that has waited longest. */
  function wakeOne(environment: string): void {
    for (const waiter of waiting.get(environment) ?? []) {
      if (waiter.isWoken) continue
      waiter.isWoken = true
      waiter.wake()
      return
    }
  }
  function wakeAll(): void {
    for (const waiters of waiting.values())
      for (const waiter of waiters) {
        waiter.isWoken = true
        waiter.wake()
      }
  }
  listenToQueue(bus, { listen: ({ environment }) => wakeOne(environment), miss: wakeAll })

  async function claim(tenant: string, environment: string, poll: Poll) {
    const { reclaimMs, worker, signal } = poll
    const database = await databases.open(tenant)
    const at = { now: clock.now(), reclaimMs, by: worker, draw: random() }
    const item = await claimNext(database, tenant, environment, at)
    if (!item || !signal.aborted) return item
    await database.write((tx) => returnItem(tx, item))
    return undefined
  }

  /** Waits until woken, until `ms` have passed, or until the client disconnects. */
  async function sleep(waiter: PollWaiter, ms: number, signal: AbortSignal): Promise<void> {
    const woken = new AbortController()
    waiter.wake = () => woken.abort()
    if (!waiter.isWoken) await clock.sleep(ms, AbortSignal.any([woken.signal, signal]))
  }

  /**
   * Joins the waiting polls before it first asks, so that it misses no notification. Checks that the environment exists
   * only when there is no item.
   */
  async function wait(
    tenant: string,
    environment: string,
    poll: Poll,
  ): Promise<WorkItem | undefined> {
    const until = clock.now() + poll.blockMs
    const others = waiting.get(environment) ?? new Set()
    const waiter: PollWaiter = { isWoken: false, wake: () => {} }
    let isThere = false
    waiting.set(environment, others.add(waiter))
    try {
      do {
        waiter.isWoken = false
        const item = await claim(tenant, environment, poll)
        if (item) return item
        if (!isThere)
          await checkEnvironment((await databases.open(tenant)).read, tenant, environment)
        isThere = true
        const left = until - clock.now()
        if (left <= 0) return undefined
        await sleep(waiter, left, poll.signal)
      } while (waiter.isWoken && !poll.signal.aborted)
      return undefined
    } finally {
      others.delete(waiter)
      if (others.size === 0) waiting.delete(environment)
      if (waiter.isWoken) wakeOne(environment)
    }
  }

  return async (tenant: string, environment: string, poll: Poll): Promise<WorkItem | undefined> => {
    if (poll.worker.id !== undefined) await see(tenant, environment, poll.worker.id)
    if (poll.signal.aborted) return undefined
    return wait(tenant, environment, poll)
  }
}
