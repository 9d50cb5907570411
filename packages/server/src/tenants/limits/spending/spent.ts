/** What a workspace has spent in this day and month, in memory: at most a second old, and with what this process has added since. */
import { hourMs } from '@steward/base/settings/kinds.ts'
import type { Clock } from '@steward/base/time.ts'
import { iso } from '@steward/base/time.ts'
import type { SpendPeriod } from '@steward/protocol/spend-limits.ts'
import { spendPeriods } from '@steward/protocol/spend-limits.ts'

/** Other processes' requests are seen after this time. */
const freshMs = 1_000
/** What a request takes from its end to its commit, generously. */
export const commitMs = 100
const mostKnown = 10_000

/** Millionths of a US dollar in the hours of the span. */
export type ReadSpent = (
  tenant: string,
  span: { fromMs: number; untilMs?: number },
) => Promise<number>

/** `over`: hours to which nothing is added any more. `live`: those after them. */
type Sum = { fromMs: number; untilMs: number; over: number; live: number }
type KnownSpend = {
  sums: Partial<Record<SpendPeriod, Sum>>
  /** What ended here since the last read, and may not be in it. */
  added: { atMs: number; units: number }[]
  dueMs: number
  reading?: Promise<void> | undefined
}

/** The beginning of the day or month in UTC. */
export function startOf(period: SpendPeriod, now: number): number {
  const date = new Date(now)
  const day = period === 'daily' ? date.getUTCDate() : 1
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), day)
}

/** When the next day or month begins. */
export function endOf(period: SpendPeriod, now: number): number {
  const date = new Date(startOf(period, now))
  return period === 'daily'
    ? Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate() + 1)
    : Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
}

/** `2030-01-31` or `2030-01`. */
export const nameOf = (period: SpendPeriod, now: number): string =>
  iso(startOf(period, now)).slice(0, period === 'daily' ? 10 : 7)

export function spentOver(read: ReadSpent, clock: Clock) {
  const known = new Map<string, KnownSpend>()

  function knownOf(tenant: string): KnownSpend {
    const found = known.get(tenant)
    if (found) return found
    if (known.size >= mostKnown) known.clear()
    const made: KnownSpend = { sums: {}, added: [], dueMs: 0 }
    known.set(tenant, made)
    return made
  }

  async function sumOf(tenant: string, last: Sum | undefined, fromMs: number, now: number) {
    const sum = last?.fromMs === fromMs ? last : { fromMs, untilMs: fromMs, over: 0, live: 0 }
    // A request that began to be counted at the end of an hour is committed in the next one.
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
      of.sums[period] = await sumOf(tenant, of.sums[period], startOf(period, now), now)
    of.added = of.added.filter((each) => !dropped.has(each))
    of.dueMs = now + (kept.length > 0 ? commitMs : freshMs)
  }

  const isCurrent = ({ sums }: KnownSpend, now: number) =>
    spendPeriods.every((period) => sums[period]?.fromMs === startOf(period, now))

  return {
    /** What was spent in each period, and whether requests may be counted twice that ended just now. */
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

    /** Reads again at the next `read`, and forgets what was added here: call it when all of that is committed. */
    forget(tenant: string): void {
      const of = knownOf(tenant)
      of.added = []
      of.dueMs = 0
    },

    /** Counts a request that has ended, before its commit. */
    add(tenant: string, units: number): void {
      const of = knownOf(tenant)
      of.added.push({ atMs: clock.now(), units })
    },
  }
}
