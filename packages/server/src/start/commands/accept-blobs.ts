/** `npm start -- accept-blobs`: takes another store of files as the one of the database. */
import { jsonLog } from '@steward/base/log.ts'
import { systemClock } from '@steward/base/time.ts'
import { acceptBlobStore } from '../../ground/blobs/blob-store-mark.ts'
import type { Config } from '../../ground/config/config.ts'
import { createDiallers } from '../diallers.ts'
import { openBlobs } from '../storage.ts'
import { byOperator } from './audit.ts'
import { databasesBeside } from './beside.ts'

export async function acceptBlobs(config: Config): Promise<void> {
  const log = jsonLog(() => {})
  const { operator } = createDiallers(config, { log, clock: systemClock }, undefined)
  const beside = await databasesBeside(config)
  try {
    const blobs = await openBlobs(config, operator.agent)
    await byOperator(beside.databases, 'accept-blobs', ({ control }) =>
      acceptBlobStore(control, blobs),
    )
  } finally {
    await beside.close()
    await operator.agent.close()
  }
}
