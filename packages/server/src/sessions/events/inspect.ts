/** Begins an inspection: a script or a rubric judges an idle session, and the agent runs no turn afterwards. */
import type { Queries } from '../../ground/database/database.ts'
import type { Inspection } from '../../ground/database/tables/outcomes.ts'
import { invalid } from '../../ground/core/errors.ts'
import { newId, outcomeIdOf } from '../../ground/core/text/ids.ts'
import { toJson } from '../../ground/core/text/json-text.ts'
import { appendEntries } from '../log/append.ts'
import { getHeadForUpdate } from '../log/head.ts'
import { hasOpenOutcome, outcomeStage } from '../log/outcome-stage.ts'
import { outcomeStore } from '../rows/outcomes.ts'
import type { SessionRef } from '../../ground/core/refs.ts'

/** The caller notifies runners after its commit. */
export async function beginInspection(
  tx: Queries,
  { tenant, session }: SessionRef,
  inspection: Inspection,
  now: number,
): Promise<void> {
  const head = await getHeadForUpdate(tx, tenant, session)
  const isResting = head.status === 'pending' || head.status === 'idle'
  if (!isResting || head.due !== 0 || hasOpenOutcome(head))
    throw invalid(`session ${session} is not idle; inspect it when its turn has ended`)
  const id = newId('event')
  await outcomeStore(tx).insert({
    tenant_id: tenant,
    session_id: session,
    id: outcomeIdOf(id),
    description: '',
    rubric: inspection.type === 'rubric' ? inspection.content : '',
    max_iterations: 1,
    result: 'running',
    iteration: 0,
    explanation: null,
    start_id: null,
    completed_at: null,
    inspection: toJson(inspection),
  })
  const set = { outcome: outcomeStage.evaluating }
  const event = { id, type: 'session.status_running' } as const
  await appendEntries(tx, tenant, session, [{ event }], { now, due: true, set })
}
