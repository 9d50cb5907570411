import { PlatformError } from '../core/errors.ts'
import type { Queries } from '../database/database.ts'
import { looseBlobStore } from './store.ts'

/** Most pending blobs of one prefix: they take disk space before a quota is checked. */
const mostPending = 8

/**
 * Throws `rate_limited` when 8 blobs below the prefix are being written or have no row yet. The caller locks the owner
 * of the prefix until the transaction ends, so that concurrent writes are all counted.
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
