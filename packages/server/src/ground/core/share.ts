/**
 * Places that tenants hold for a while: turns, sandboxes, streams, connections. One tenant alone may hold nearly all of
 * them, and never all: its bound is a multiple of the places that are free, so that it shrinks as others come, and tenants
 * that want much end with equally many. A quarter of the places that one tenant may not hold are for the first place of tenants
 * that hold none, so that several tenants who want all of them keep nobody out.
 */
export type Share = {
  /** A place, given back by the call of what is returned (once, however often it is called); undefined without room. */
  take(tenant: string): (() => void) | undefined
  /** How many places the tenant could take now. */
  room(tenant: string): number
  /** Waits for a place, behind those of the same tenant; tenants are served in turn. Rejects with the signal's reason. */
  wait(tenant: string, signal: AbortSignal): Promise<() => void>
  /** Places that the tenant holds. */
  held(tenant: string): number
  /** Of all tenants. */
  places(): { total: number; held: number; waiting: number }
  /** Whether anybody waits for a place who holds as many as the tenant or fewer: the tenant itself, or another. */
  isAwaitedOf(tenant: string): boolean
  /** Whether the tenant holds as many as it may have by itself, whatever is free. */
  isAtMost(tenant: string): boolean
  /** Gives places to those that wait: call it when `most` says more than before. */
  serve(): void
}

type ShareWaiter = { give: (release: () => void) => void }

type ShareOptions = {
  total: number
  /** What one tenant may hold of `total` while the others hold nothing; at 100 nothing is kept free. */
  percent: number
  /** What the tenant may hold at most, however much is free. */
  most?: (tenant: string) => number
}

export function createShare({ total, percent, most = () => total }: ShareOptions): Share {
  // The multiple is alone / rest, in hundredths of places: whole numbers, so that nothing is rounded.
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
    // The most k with which k - 1 + mine is less than the multiple of free - kept - (k - 1); the last place is kept at least.
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

  /** One place to each tenant that has room, and again, until nobody has. */
  function serve(): void {
    for (const [tenant, waiters] of waiting) {
      const release = take(tenant)
      if (!release) continue
      waiting.delete(tenant)
      const [first, ...others] = waiters
      // Behind all others, which this loop comes to before it comes to it again.
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
    places: () => ({
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
