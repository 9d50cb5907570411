/** Things by their keys, kept for as long as somebody uses them and for a while after. */
import type { Clock } from './time.ts'

export type PoolOptions<Thing> = {
  clock: Clock
  /** The pool closes a thing that nobody has used for so long. */
  idleMs: number
  /** From one look for idle things to the next. */
  everyMs: number
  /** Ends a thing. The pool no longer holds it. */
  close: (thing: Thing, key: string) => unknown
  /** Asked at each look. The pool closes a thing that may not stay, used or not. */
  mayStay?: (thing: Thing) => Promise<boolean>
  /** Called with the error of a `close` or a `mayStay`. */
  fail: (error: unknown) => void
}

export type Pool<Thing> = {
  get: (key: string) => Thing | undefined
  /** The thing of the key, made where there is none. Its idle time begins when it is made. */
  hold: (key: string, make: () => Thing) => Thing
  /** Holds the thing in use until the call of `leave`, which returns true when nobody uses the thing any more. */
  use: (key: string, make: () => Thing) => { thing: Thing; leave: () => boolean }
  /** The number of users of the thing of the key. */
  users: (key: string) => number
  /** The unused things, each with the time of its last use. */
  idle: () => { key: string; thing: Thing; since: number }[]
  /** Takes the thing out, used or not, for the caller to end. With `only`: where it is the thing of the key. */
  remove: (key: string, only?: Thing) => Thing | undefined
  /** Takes the thing out. The pool closes it as soon as nobody uses it. */
  retire: (key: string) => void
  /** Resolves when all that was idle for long enough is closed. */
  closeIdle: () => Promise<void>
  /** Ends the looks, and closes everything, used or not. */
  close: () => Promise<void>
}

type PoolEntry<Thing> = { key: string; thing: Thing; users: number; usedAt: number }

export function createPool<Thing>(options: PoolOptions<Thing>): Pool<Thing> {
  const { clock, idleMs, everyMs, mayStay, fail } = options
  const entries = new Map<string, PoolEntry<Thing>>()
  const retired = new Set<PoolEntry<Thing>>()
  const closed = new AbortController()

  function entryOf(key: string, make: () => Thing): PoolEntry<Thing> {
    const known = entries.get(key)
    if (known) return known
    const fresh = { key, thing: make(), users: 0, usedAt: clock.now() }
    entries.set(key, fresh)
    return fresh
  }

  /** Closes an entry once, however often it is called. */
  async function end(entry: PoolEntry<Thing>): Promise<void> {
    const { key, thing } = entry
    if (entries.get(key) === entry) entries.delete(key)
    else if (!retired.delete(entry)) return
    try {
      await options.close(thing, key)
    } catch (error) {
      fail(error)
    }
  }

  async function closeIdle(): Promise<void> {
    const since = clock.now() - idleMs
    const idle = [...entries.values()].filter(({ users, usedAt }) => users === 0 && usedAt <= since)
    await Promise.all(idle.map(end))
  }

  async function check(entry: PoolEntry<Thing>): Promise<void> {
    try {
      if (await mayStay?.(entry.thing)) return
    } catch (error) {
      return fail(error)
    }
    await end(entry)
  }

  /** A look awaits nothing: a thing that closes slowly delays no other. */
  async function lookUntilClosed(): Promise<void> {
    for (;;) {
      await clock.sleep(everyMs, closed.signal)
      if (closed.signal.aborted) return
      void closeIdle()
      if (mayStay) for (const entry of entries.values()) void check(entry)
    }
  }
  void lookUntilClosed()

  return {
    get: (key) => entries.get(key)?.thing,
    hold: (key, make) => entryOf(key, make).thing,
    use(key, make) {
      const entry = entryOf(key, make)
      entry.users++
      return {
        thing: entry.thing,
        leave() {
          entry.users--
          entry.usedAt = clock.now()
          if (entry.users === 0 && retired.has(entry)) void end(entry)
          return entry.users === 0
        },
      }
    },
    users: (key) => entries.get(key)?.users ?? 0,
    idle: () =>
      [...entries.values()]
        .filter(({ users }) => users === 0)
        .map(({ key, thing, usedAt }) => ({ key, thing, since: usedAt })),
    remove(key, only) {
      const entry = entries.get(key)
      if (!entry || (only !== undefined && entry.thing !== only)) return undefined
      entries.delete(key)
      return entry.thing
    },
    retire(key) {
      const entry = entries.get(key)
      if (!entry) return
      entries.delete(key)
      retired.add(entry)
      if (entry.users === 0) void end(entry)
    },
    closeIdle,
    async close() {
      closed.abort()
      await Promise.all([...entries.values(), ...retired].map(end))
    },
  }
}
