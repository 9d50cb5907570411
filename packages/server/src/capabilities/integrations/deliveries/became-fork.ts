/** The rule of forks for sessions that have begun already. */
import { invalid } from '../../../ground/core/errors.ts'
import type { JobContext } from '../job-context.ts'
import type { ExternalThreadRow, PublicationRow } from '../store.ts'
import type { HeardDelivery } from './allowed.ts'
import { hasRights, headOf } from './checkout.ts'
import type { GatherDeps } from './gather.ts'
import { parseCommand } from './words.ts'

/**
 * Attack: a stranger turns an issue into a pull request of a fork while its session has the rights of an issue. So the
 * head is asked for each message on the thread's own pull request, unless the session only reads. A pull request that an
 * agent has opened lies in the repository itself.
 *
 * Throws where the session has more rights than the publication gives for forks.
 */
export async function checkNoFork(
  deps: GatherDeps,
  context: JobContext,
  publication: PublicationRow,
  { received, thread }: { received: HeardDelivery; thread: ExternalThreadRow },
): Promise<void> {
  const { forks = 'read_only' } = publication.spec.github ?? {}
  if (received.kind !== 'message' || received.target['pull'] !== 1 || forks === 'trust') return
  if (forks === 'read_only' && (thread.reads_only === 1 || !hasRights(publication))) return
  const isOwn = thread.scope.endsWith(`#${String(received.target['number'])}`)
  // A word that stops the agent or answers its question brings nothing of the fork.
  if (!isOwn || parseCommand(received.text)) return
  const head = await headOf(deps, context, publication, received.target)
  if (!head?.isOfFork) return
  throw invalid(
    `This is a pull request of a fork, and its session ${thread.session_id ?? ''} has more rights than this agent has for forks: it began on an issue, or before this rule. Archive the session, and mention the agent again.`,
  )
}
