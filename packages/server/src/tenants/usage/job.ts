/** Sums up usage that is older than `usageMs`: rows of hours become rows of days. */
import { dayMs } from '@steward/base/settings/kinds.ts'
import type { Job } from '../../ground/core/time/jobs.ts'
import type { Database } from '../../ground/database/database.ts'
import { runOnEach } from '../../ground/database/database.ts'
import type { Ground } from '../../ground/ground.ts'
import { messageUsageStore } from './messages/store.ts'
import { usageStore } from './store.ts'

const everyMs = 60 * 60 * 1000
const daysAtOnce = 20

export function usageJob({ databases, usageMs, clock }: Ground & { usageMs: number }): Job {
  const walk = databases.walk(everyMs)
  const run = () => runOnEach(walk(), (database) => sumOldUsage(database, clock.now() - usageMs))
  return { name: 'sum up old usage', everyMs, run }
}

/** Sums up whole days that ended before the time, at most `daysAtOnce`. True: none is left. */
export async function sumOldUsage(database: Database, beforeMs: number): Promise<boolean> {
  const untilMs = beforeMs - (beforeMs % dayMs)
  const old = await usageStore(database.read).daysBefore(untilMs, daysAtOnce)
  for (const { tenant_id, day_ms } of old)
    await database.write(async (tx) => {
      await usageStore(tx).sumDay(tenant_id, day_ms)
      await messageUsageStore(tx).sumDay(tenant_id, day_ms)
    })
  return old.length < daysAtOnce
}
