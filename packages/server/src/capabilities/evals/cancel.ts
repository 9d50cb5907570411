/** Cancels a run. */
import { invalid } from '../../ground/core/errors.ts'
import type { Queries } from '../../ground/database/database.ts'
import { evalStore } from './store.ts'
import { notifyEvals } from './topics.ts'
import { rows } from '../../ground/database/rows.ts'

/**
 * Ends the trials that have not begun. The process that drives the run interrupts the other trials, and ends the run.
 */
export async function cancelRun(
  tx: Queries,
  tenant: string,
  id: string,
  now: number,
): Promise<void> {
  const store = evalStore(tx)
  const run = await rows(tx, 'eval_runs').getForUpdate(tenant, id)
  if (run.status === 'canceling' || run.status === 'canceled') return
  if (run.ended_at !== null) throw invalid(`eval ${id} is ${run.status} and cannot be canceled`)
  await store.cancelQueued(tenant, id, now)
  await store.updateRun(run, { status: 'canceling' }, now)
  notifyEvals(tx)
}
