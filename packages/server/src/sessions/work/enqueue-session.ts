import type { Queries } from '../../ground/database/database.ts'
import { enqueueItem } from './queue.ts'
import type { SessionRow } from '../rows/sessions.ts'

/** Enqueues work if the environment is `self_hosted`. Returns the environment to notify. */
export async function enqueueSession(
  tx: Queries,
  { tenant_id: tenant, id: session, environment_id: environment, self_hosted }: SessionRow,
  now: number,
): Promise<string | undefined> {
  if (self_hosted === 0) return undefined
  return (await enqueueItem(tx, { tenant, environment, session }, { now }))
    ? environment
    : undefined
}
