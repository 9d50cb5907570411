/**
 * Slots that tenants hold for a while: turns, sandboxes, streams, connections. A single tenant may hold nearly all of
 * them and never all. Its bound is a multiple of the free slots, so that the bound shrinks as others come, and tenants
 * that want many slots end with equally many. Of the slots that a single tenant may not hold, a quarter is reserved
 * for the first slot of tenants that hold none, so that several greedy tenants cannot keep a new tenant out.
 */
export type Share = {
  /** Takes a slot; the returned function releases it, once. Undefined without room. */
  take(tenant: string): (() => void) | undefined
  /** Number of slots that the tenant could take now. */
  room(tenant: string): number
  /** Waits for a slot. Tenants are served in turn, waiters of one tenant in order. Rejects with the signal's reason. */
  wait(tenant: string, signal: AbortSignal): Promise<() => void>
  /** Number of slots that the tenant holds. */
  held(tenant: string): number
  /** Slots of all tenants together. */
  slots(): { total: number; held: number; waiting: number }
  /** True when this tenant waits, or one that holds at most as many slots and is below its own maximum. */
  isAwaitedOf(tenant: string): boolean
  /** True when the tenant holds its own maximum (`most`), whatever is free. */
  isAtMost(tenant: string): boolean
  /** Gives slots to waiters. Call it when `most` has grown. */
  serve(): void
}

type ShareWaiter = { give: (release: () => void) => void }

type ShareOptions = {
  total: number
  /** Percent of `total` that one tenant may hold while the others hold nothing. At 100 no slot is reserved. */
  percent: number
  /** The tenant's own maximum of slots, whatever is free. */
  most?: (tenant: string) => number
}

export function createShare({ total, percent, most = () => total }: ShareOptions): Share {
  // The multiple is alone / rest, in hundredths of slots: whole numbers, so that nothing is rounded.
  const alone = total * percent
  const kept = Math.floor((100 * total - alone) / 400)
  const rest = 100 * (total - kept) - alone
  const held = new Map<string, number>()
  /** Tenants in the order in which they are served next. */
  const waiting = new Map<string, ShareWaiter[]>()
  let used = 0

  function room(tenant: string): number {
    return Math.max(0, Math.min(fairRoom(tenant), most(tenant) - (held.get(tenant) ?? 0)))
  }

  function fairRoom(tenant: string): number {
    const free = total - used
    const mine = held.get(tenant) ?? 0
    if (percent >= 100) return free
    // The largest k with k - 1 + mine < multiple * (free - kept - (k - 1)). At least the last slot is reserved.
    const fair = Math.ceil((alone * (free - kept) - rest * mine) / (rest + alone))
    const all = Math.min(fair, free - Math.max(kept, 1))
    return Math.max(all, mine === 0 && free > 0 ? 1 : 0)
  }

  function take(tenant: string): (() => void) | undefined {
    if (room(tenant) === 0) return undefined
    used++
    held.set(tenant, (held.get(tenant) ?? 0) + 1)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      used--
      const left = (held.get(tenant) ?? 1) - 1
      if (left > 0) held.set(tenant, left)
      else held.delete(tenant)
      serve()
    }
  }

  /** Gives one slot to each tenant with room, round after round, until no tenant has room. */
  function serve(): void {
    for (const [tenant, waiters] of waiting) {
      const release = take(tenant)
      if (!release) continue
      waiting.delete(tenant)
      const [first, ...others] = waiters
      // Moves the tenant behind all others; this loop visits them first.
      if (others.length > 0) waiting.set(tenant, others)
      first?.give(release)
    }
  }

  function leave(tenant: string, waiter: ShareWaiter): void {
    const others = (waiting.get(tenant) ?? []).filter((each) => each !== waiter)
    if (others.length > 0) waiting.set(tenant, others)
    else waiting.delete(tenant)
  }

  const isAtMost = (tenant: string) => (held.get(tenant) ?? 0) >= most(tenant)

  return {
    take,
    room,
    isAtMost,
    serve,
    held: (tenant) => held.get(tenant) ?? 0,
    slots: () => ({
      total,
      held: used,
      waiting: waiting.values().reduce((sum, waiters) => sum + waiters.length, 0),
    }),
    isAwaitedOf(tenant) {
      const mine = held.get(tenant) ?? 0
      return waiting
        .keys()
        .some((each) => (held.get(each) ?? 0) <= mine && (each === tenant || !isAtMost(each)))
    },
    wait: (tenant, signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason)
        const release = waiting.has(tenant) ? undefined : take(tenant)
        if (release) return resolve(release)
        const end = () => {
          leave(tenant, waiter)
          reject(signal.reason)
        }
        const waiter: ShareWaiter = {
          give(release) {
            signal.removeEventListener('abort', end)
            resolve(release)
          },
        }
        waiting.set(tenant, [...(waiting.get(tenant) ?? []), waiter])
        signal.addEventListener('abort', end, { once: true })
      }),
  }
}
