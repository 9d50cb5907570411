/** Limits of workspaces in memory. They are refreshed in the background, so that a request does not wait for them. */
import { isMissed } from '../../ground/bus/bus.ts'
import type { Ground } from '../../ground/ground.ts'
import type { LimitRow } from './effective-limits.ts'
import type { SpendRow } from './spending/store.ts'
import { spendLimitStore } from './spending/store.ts'
import type { OwnRules } from './rules/store.ts'
import { ruleStore } from './rules/store.ts'
import { workspaceLimitStore } from './store.ts'

/** Longest age of a cached value in milliseconds; bounds the delay of a lost notification. */
export const limitsFreshMs = 15_000
const mostKnown = 10_000

/** Topic of the bus; its messages name the tenant. */
export const limitsTopic = 'limits'

type CachedLimits<T> = { value: T; untilMs: number }

export type LimitsCache<T> = {
  /** The cached value, at once; undefined for a workspace that was not read yet. */
  peek(tenant: string): T | undefined
  /** A value at most `limitsFreshMs` old. */
  read(tenant: string): Promise<T>
  /** Call it after a change in this process: reads the limits again and notifies peers. */
  changed(tenant: string): Promise<void>
  /** Calls the listener after each read of the limits of a workspace. */
  onChange(listener: () => void): void
}

/** `derive` is called once for each read. */
export function createLimitsCache<T>(
  derive: (
    rows: readonly LimitRow[],
    spendLimits: readonly SpendRow[],
    rules: OwnRules | undefined,
  ) => T,
  { databases, clock, bus, log }: Ground,
): LimitsCache<T> {
  const known = new Map<string, CachedLimits<T>>()
  const reading = new Map<string, Promise<T>>()
  const listeners: (() => void)[] = []

  async function readNow(tenant: string): Promise<T> {
    const { read } = databases.control
    const [rows, spendLimits, rules] = await Promise.all([
      workspaceLimitStore(read).all(tenant),
      spendLimitStore(read).all(tenant),
      ruleStore(read).find(tenant),
    ])
    const value = derive(rows, spendLimits, rules)
    if (known.size >= mostKnown) known.clear()
    known.set(tenant, { value, untilMs: clock.now() + limitsFreshMs })
    for (const listener of listeners) listener()
    return value
  }

  function readTogether(tenant: string): Promise<T> {
    const under = reading.get(tenant)
    if (under) return under
    const begun = readNow(tenant).finally(() => reading.delete(tenant))
    reading.set(tenant, begun)
    return begun
  }

  function readBeside(tenant: string): void {
    if (reading.has(tenant)) return
    readTogether(tenant).catch((error: unknown) => {
      // Keep the old value and wait as long as after a success.
      const last = known.get(tenant)
      if (last) last.untilMs = clock.now() + limitsFreshMs
      log.warn('the limits of a workspace could not be read', { tenant, error })
    })
  }

  bus.subscribe(limitsTopic, (message) => {
    if (isMissed(message)) {
      for (const each of known.values()) each.untilMs = 0
      for (const listener of listeners) listener()
    } else if (known.has(String(message['tenant']))) readBeside(String(message['tenant']))
  })

  return {
    peek(tenant) {
      const found = known.get(tenant)
      if (!found || found.untilMs <= clock.now()) readBeside(tenant)
      return found?.value
    },
    async read(tenant) {
      const found = known.get(tenant)
      return found && found.untilMs > clock.now() ? found.value : readTogether(tenant)
    },
    async changed(tenant) {
      // A read that began before the change may not know of it.
      await reading.get(tenant)
      await readNow(tenant)
      bus.publish(limitsTopic, { tenant })
    },
    onChange: (listener) => void listeners.push(listener),
  }
}
