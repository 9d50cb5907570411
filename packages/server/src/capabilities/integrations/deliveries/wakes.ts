/** Whether something that has happened to a pull request of an agent wakes the agent. */
import type { JobContext } from '../job-context.ts'
import type { Wake } from '../../../ground/database/tables/integrations.ts'
import type { ExternalThreadRow, PublicationRow } from '../store.ts'
import type { HeardDelivery } from './allowed.ts'
import type { GatherDeps } from './gather.ts'
import { openSource } from './gather.ts'
import { hasWoken, howUsedUp, isOfPerson } from './wake-counts.ts'

/** The most attempts to ask the provider. */
const mostWaits = 4

/** `isUsedUp`: people have to be told that the agent waits for them. */
export type NotWoken = { reason: string; isUsedUp?: boolean }

/** `session`: the session of the thread that is open. */
type WokenThread = { thread: ExternalThreadRow | undefined; session: string | undefined }

/** Why nothing but a person wakes the agent, whatever the provider says. */
function whyAsleep(wake: Wake, { thread, session }: WokenThread): string | undefined {
  if (hasWoken(thread?.wakes ?? null, wake)) return 'the agent was woken by this commit already'
  // Somebody may have ended it so that the agent stops.
  const isOver = session === undefined && typeof thread?.session_id === 'string'
  return isOver ? 'the session of the thread has ended' : undefined
}

/** Throws where the provider must be asked again later. */
export async function whyNotWoken(
  deps: GatherDeps,
  context: JobContext,
  publication: PublicationRow,
  asked: WokenThread & { received: HeardDelivery; begun: number },
): Promise<NotWoken | undefined> {
  const { received, thread, session, begun } = asked
  if (received.kind !== 'message' || !received.wake) return undefined
  const { wake, target } = received
  const kept = thread?.wakes ?? null
  const before = isOfPerson(wake) ? undefined : whyAsleep(wake, { thread, session })
  if (before !== undefined) return { reason: before }
  const app = deps.apps.get(publication.integration)
  if (!app?.whyNotWoken) return { reason: 'nothing wakes the agents of this integration' }
  const found = await openSource(deps, context, publication, { app, since: null })
  if ('problem' in found) return { reason: found.problem }
  const reason = await app.whyNotWoken(found.source, { target, wake })
  const [later] = found.waits
  if (later !== undefined && begun + 1 < mostWaits) throw new Error(`what wakes it: ${later}`)
  if (reason !== undefined) return { reason: [reason, ...found.missing].join('; ') }
  const many = isOfPerson(wake) ? undefined : howUsedUp(kept, wake)
  if (many === undefined) return undefined
  return { reason: `the agent was woken ${many} without a word of a person`, isUsedUp: true }
}
