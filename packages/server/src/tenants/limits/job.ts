import type { Job } from '../../ground/core/time/jobs.ts'
import type { Databases } from '../../ground/database/database.ts'
import { rateStore } from './store.ts'

const everyMs = 10 * 60 * 1000

/** Jobs on Postgres only. On SQLite the one process keeps its counters in memory. */
export const rateLimitJobs = ({ control }: Databases): Job[] =>
  control.dialect === 'sqlite'
    ? []
    : [
        {
          name: 'remove full rate limits',
          everyMs,
          async run() {
            await control.writeStatement((db) => rateStore(db).removeFull())
          },
        },
      ]
