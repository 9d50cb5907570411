import type { Queries } from '../../ground/database/database.ts'
import { enqueueItem } from './queue.ts'
import { notifyPollers } from './topics.ts'
import type { SessionRow } from '../rows/sessions.ts'

/** Enqueues work if the environment is `self_hosted`, and notifies its workers. */
export async function enqueueSession(
  tx: Queries,
  { tenant_id: tenant, id: session, environment_id: environment, self_hosted }: SessionRow,
  now: number,
): Promise<void> {
  if (self_hosted === 0) return
  if (await enqueueItem(tx, { tenant, environment, session }, { now }))
    notifyPollers(tx, { environment })
}
