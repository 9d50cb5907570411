/** Usage is kept by hours for as long as the operator says, and by days after that. */
import { dayMs } from '@steward/base/settings/kinds.ts'
import type { Clock } from '@steward/base/time.ts'
import type { Job } from '../../ground/core/jobs.ts'
import type { Database, Databases } from '../../ground/database/database.ts'
import { runOnEach } from '../../ground/database/database.ts'
import { usageStore } from './store.ts'

const everyMs = 60 * 60 * 1000
const daysAtOnce = 20

type Deps = { databases: Databases; usageMs: number; clock: Clock }

export function usageJob({ databases, usageMs, clock }: Deps): Job {
  const walk = databases.walk(everyMs)
  const run = () => runOnEach(walk(), (database) => sumOldUsage(database, clock.now() - usageMs))
  return { name: 'sum up old usage', everyMs, run }
}

/** Whole days that ended before the time, of one workspace after the other. True: that was all. */
export async function sumOldUsage(database: Database, beforeMs: number): Promise<boolean> {
  const untilMs = beforeMs - (beforeMs % dayMs)
  const old = await usageStore(database.read).daysBefore(untilMs, daysAtOnce)
  for (const { tenant_id, day_ms } of old)
    await database.write((tx) => usageStore(tx).sumDay(tenant_id, day_ms))
  return old.length < daysAtOnce
}
