/** Polls that wait: woken by whoever puts work in, and asking the database once each. */
import type { Bus } from '../bus/bus.ts'
import type { Clock } from '../core/time.ts'
import type { Databases } from '../database/database.ts'
import type { Item } from './item.ts'
import { claimNext } from './queue.ts'
import { workStore } from './store.ts'
import { hearQueue } from './topics.ts'

/** How old what is known of a worker's presence may be. */
const presenceMs = 10_000
const mostKnown = 10_000

export type Poll = {
  /** How long it may wait for work to come. */
  blockMs: number
  reclaimMs: number
  worker: string | undefined
  signal: AbortSignal
}

export function poller({
  databases,
  bus,
  clock,
}: {
  databases: Databases
  bus: Bus
  clock: Clock
}) {
  const waiting = new Map<string, Set<() => void>>()
  const present = new Map<string, number>()
  hearQueue(bus, ({ environment }) => {
    // Each item is for one of them: the one that has waited longest.
    const [wake] = waiting.get(environment) ?? []
    wake?.()
  })

  async function claim(tenant: string, environment: string, reclaimMs: number) {
    const database = databases.of(tenant)
    const at = { now: clock.now(), reclaimMs }
    if (!(await workStore(database.read).hasFree(tenant, environment, at.now, reclaimMs)))
      return undefined
    return database.write((tx) => claimNext(tx, tenant, environment, at))
  }

  /** Until something was put in, or the time is over, or the poller has gone. */
  async function next(environment: string, ms: number, signal: AbortSignal): Promise<void> {
    const stop = new AbortController()
    const others = waiting.get(environment) ?? new Set()
    const wake = () => {
      others.delete(wake)
      stop.abort()
    }
    waiting.set(environment, others.add(wake))
    try {
      await clock.sleep(ms, AbortSignal.any([stop.signal, signal]))
    } finally {
      others.delete(wake)
      if (others.size === 0) waiting.delete(environment)
    }
  }

  async function see(tenant: string, environment: string, worker: string): Promise<void> {
    const key = `${environment}/${worker}`
    const now = clock.now()
    if ((present.get(key) ?? 0) > now - presenceMs) return
    if (present.size >= mostKnown) present.clear()
    present.set(key, now)
    await databases.of(tenant).write((tx) => workStore(tx).seen(tenant, environment, worker, now))
  }

  return async (tenant: string, environment: string, poll: Poll): Promise<Item | undefined> => {
    const { blockMs, reclaimMs, worker, signal } = poll
    const until = clock.now() + blockMs
    if (worker !== undefined) await see(tenant, environment, worker)
    for (;;) {
      const item = await claim(tenant, environment, reclaimMs)
      const left = until - clock.now()
      if (item || left <= 0 || signal.aborted) return item
      await next(environment, left, signal)
    }
  }
}
