import type { Queries } from '../../ground/database/database.ts'
import type { PastCheckpoint } from './past-checkpoints.ts'
import { pastStore } from './past-checkpoints.ts'
import { checkpointStore } from './store.ts'

/** No folder of working folders has this name, so the first sandbox of a fork restores the checkpoint. */
const folder = 'fork'

/**
 * Gives a fork the newest checkpoint of the session from before the event `before`, as it was at the event `at`. Locks
 * the checkpoint of the session, so that no archive is removed before the fork holds it. Null: there is none.
 * Undefined: the session never had a sandbox.
 */
export async function forkCheckpoint(
  tx: Queries,
  tenant: string,
  { from, to }: { from: string; to: string },
  { at, before }: { at: number; before: number },
): Promise<PastCheckpoint | null | undefined> {
  const row = await checkpointStore(tx).findForUpdate(tenant, from)
  if (!row) return undefined
  const found = (await pastStore(tx).before(tenant, from, before)) ?? null
  await checkpointStore(tx).give(tenant, to, folder, found)
  if (found) await pastStore(tx).give(tenant, { from, to }, found, at)
  return found
}
