/** The spend of a workspace in this day and month, from memory: at most a second old, plus requests of this process. */
import { hourMs } from '@steward/base/settings/kinds.ts'
import type { Clock } from '@steward/base/time.ts'
import { iso } from '@steward/base/time.ts'
import type { SpendPeriod } from '@steward/protocol/spend-limits.ts'
import { spendPeriods } from '@steward/protocol/spend-limits.ts'

/** Longest age of a read: requests of peers are seen after this time. */
const freshMs = 1_000
/** Upper bound of the time from the end of a request to its commit. */
export const commitMs = 100
const mostKnown = 10_000

/** Millionths of a US dollar in the hours of the span. */
export type ReadSpend = (
  tenant: string,
  span: { fromMs: number; untilMs?: number },
) => Promise<number>

/** `over`: the sum of hours that are complete. `live`: the sum of the hours from `untilMs` on. */
type SpendSum = { fromMs: number; untilMs: number; over: number; live: number }
type KnownSpend = {
  sums: Partial<Record<SpendPeriod, SpendSum>>
  /** Requests that ended here and may be missing in the last read. */
  added: { atMs: number; units: number }[]
  dueMs: number
  reading?: Promise<void> | undefined
}

/** The beginning of the day or month in UTC. */
export function periodStart(period: SpendPeriod, now: number): number {
  const date = new Date(now)
  const day = period === 'daily' ? date.getUTCDate() : 1
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), day)
}

/** When the next day or month begins. */
export function periodEnd(period: SpendPeriod, now: number): number {
  const date = new Date(periodStart(period, now))
  return period === 'daily'
    ? Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate() + 1)
    : Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
}

/** `2030-01-31` or `2030-01`. */
export const periodName = (period: SpendPeriod, now: number): string =>
  iso(periodStart(period, now)).slice(0, period === 'daily' ? 10 : 7)

export function recentSpend(read: ReadSpend, clock: Clock) {
  const known = new Map<string, KnownSpend>()

  function knownOf(tenant: string): KnownSpend {
    const found = known.get(tenant)
    if (found) return found
    if (known.size >= mostKnown) known.clear()
    const made: KnownSpend = { sums: {}, added: [], dueMs: 0 }
    known.set(tenant, made)
    return made
  }

  async function sumOf(tenant: string, last: SpendSum | undefined, fromMs: number, now: number) {
    const sum = last?.fromMs === fromMs ? last : { fromMs, untilMs: fromMs, over: 0, live: 0 }
    // A request counted at the end of an hour may commit in the next hour.
    const untilMs = Math.max(sum.untilMs, now - (now % hourMs) - hourMs)
    const between = { fromMs: sum.untilMs, untilMs }
    const over = sum.over + (untilMs > sum.untilMs ? await read(tenant, between) : 0)
    return { fromMs, untilMs, over, live: await read(tenant, { fromMs: untilMs }) }
  }

  async function readNow(tenant: string, of: KnownSpend): Promise<void> {
    const now = clock.now()
    const kept = of.added.filter(({ atMs }) => now - atMs < commitMs)
    const dropped = new Set(of.added.filter((each) => !kept.includes(each)))
    for (const period of spendPeriods)
      of.sums[period] = await sumOf(tenant, of.sums[period], periodStart(period, now), now)
    of.added = of.added.filter((each) => !dropped.has(each))
    of.dueMs = now + (kept.length > 0 ? commitMs : freshMs)
  }

  const isCurrent = ({ sums }: KnownSpend, now: number) =>
    spendPeriods.every((period) => sums[period]?.fromMs === periodStart(period, now))

  return {
    /** The spend of each period. `isUnsure`: requests that ended just now may be counted twice. */
    async read(tenant: string) {
      const of = knownOf(tenant)
      const now = clock.now()
      if (now >= of.dueMs || !isCurrent(of, now))
        await (of.reading ??= readNow(tenant, of).finally(() => (of.reading = undefined)))
      const added = of.added.reduce((sum, { units }) => sum + units, 0)
      const spent = (period: SpendPeriod) => {
        const { over, live } = of.sums[period] ?? { over: 0, live: 0 }
        return over + live + added
      }
      return { daily: spent('daily'), monthly: spent('monthly'), isUnsure: added > 0 }
    },

    /**
     * Makes the next `read` ask the database, and drops the requests that were added up to `untilMs`. Call it once all
     * of these are committed. A read that runs may have begun before, so its sums are not kept.
     */
    forget(tenant: string, untilMs: number): void {
      const { sums, added } = knownOf(tenant)
      const left = added.filter(({ atMs }) => atMs > untilMs)
      known.set(tenant, { sums: { ...sums }, added: left, dueMs: 0 })
    },

    /** Counts a request that has ended, before its commit. */
    add(tenant: string, units: number): void {
      const of = knownOf(tenant)
      of.added.push({ atMs: clock.now(), units })
    },
  }
}
