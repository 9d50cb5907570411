/** `npm start -- create-bucket`: makes the bucket that STORE_BACKENDS names, unless it is there. */
import { jsonLog } from '@steward/base/log.ts'
import { systemClock } from '@steward/base/time.ts'
import type { Config } from '../../ground/config/config.ts'
import { createDiallers } from '../diallers.ts'
import { createConfiguredBucket } from '../storage.ts'

export async function createBucketOf(config: Config): Promise<{ name: string; isNew: boolean }> {
  const log = jsonLog(() => {})
  const { operator } = createDiallers(config, { log, clock: systemClock }, undefined)
  try {
    return await createConfiguredBucket(config, operator.agent)
  } finally {
    await operator.agent.close()
  }
}
