import { PlatformError } from '../core/errors.ts'
import type { Queries } from '../database/database.ts'
import { looseBlobStore } from './store.ts'

/** Of one place: they cost room on the disk before any quota is asked. */
const mostPending = 8

/**
 * 429 where so many blobs of keys that begin so are being sent, or wait for their row. Those that come together are all
 * counted where their caller is alone with the place until the transaction ends.
 */
export async function checkPendingBlobs(
  tx: Queries,
  { tenant, prefix }: { tenant: string; prefix: string },
  now: number,
  { busy }: { busy: (most: number) => string },
): Promise<void> {
  if ((await looseBlobStore(tx).pending(tenant, prefix, now)) < mostPending) return
  throw new PlatformError('rate_limited', busy(mostPending))
}
