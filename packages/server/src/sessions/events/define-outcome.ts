/** Defines an outcome: its row, and the event that begins the work. */
import type { EventOf } from '@steward/protocol/events.ts'
import type { DefineOutcome } from '@steward/protocol/outcomes.ts'
import { usualIterations } from '@steward/protocol/outcomes.ts'
import { invalid } from '../../ground/core/errors.ts'
import { outcomeIdOf } from '../../ground/core/text/ids.ts'
import type { Queries } from '../../ground/database/database.ts'
import type { HeadOutcome } from '../../ground/database/tables/outcomes.ts'
import { hasOpenOutcome } from '../log/outcome-stage.ts'
import { outcomeStore } from '../rows/outcomes.ts'
import type { SessionRow } from '../rows/sessions.ts'

type OutcomeTarget = {
  session: Pick<SessionRow, 'tenant_id' | 'id' | 'self_hosted'>
  head: HeadOutcome
}

/**
 * Returns the event, which the caller appends in the same transaction. `head` is locked. Throws when the session has an
 * open outcome, or runs on workers, because the grader reads files in a sandbox of the service.
 */
export async function defineOutcome(
  tx: Queries,
  { session, head }: OutcomeTarget,
  { id, description, rubric, max_iterations }: DefineOutcome & { id: string },
  at: string,
): Promise<EventOf<'user.define_outcome'>> {
  if (session.self_hosted === 1)
    throw invalid(
      `${at}.type: user.define_outcome is refused in self_hosted environments, because the grader cannot read the files of their workers; use an environment of type cloud`,
    )
  if (hasOpenOutcome(head))
    throw invalid(
      `${at}.type: the session works towards an outcome already; wait until it has ended, or interrupt it`,
      'outcome_open',
    )
  if (rubric.type === 'file') throw new Error('the text of a rubric is read before the unit')
  const outcome_id = outcomeIdOf(id)
  const mostIterations = max_iterations ?? usualIterations
  await outcomeStore(tx).insert({
    tenant_id: session.tenant_id,
    session_id: session.id,
    id: outcome_id,
    description,
    rubric: rubric.content,
    max_iterations: mostIterations,
    result: 'pending',
    iteration: 0,
    explanation: null,
    start_id: null,
    completed_at: null,
    inspection: null,
  })
  const fields = { outcome_id, description, rubric, max_iterations: mostIterations }
  return { id, type: 'user.define_outcome', ...fields }
}
