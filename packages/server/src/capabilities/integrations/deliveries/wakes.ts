/** Whether something that has happened to a pull request of an agent wakes the agent. */
import type { JobContext } from '../job-context.ts'
import type { ExternalThreadRow, PublicationRow } from '../store.ts'
import type { HeardDelivery } from './allowed.ts'
import type { GatherDeps } from './gather.ts'
import { openSource } from './gather.ts'
import { hasWoken, isOfPerson, isUsedUp, mostWakes } from './wake-counts.ts'

/** The most attempts to ask the provider. */
const mostWaits = 4

/** `isUsedUp`: people have to be told that the agent waits for them. */
export type NotWoken = { reason: string; isUsedUp?: boolean }

/** Throws where the provider must be asked again later. */
export async function whyNotWoken(
  deps: GatherDeps,
  context: JobContext,
  publication: PublicationRow,
  asked: { received: HeardDelivery; thread: ExternalThreadRow | undefined; begun: number },
): Promise<NotWoken | undefined> {
  const { received, thread, begun } = asked
  if (received.kind !== 'message' || !received.wake) return undefined
  const { wake, target } = received
  const kept = thread?.wakes ?? null
  if (!isOfPerson(wake) && hasWoken(kept, wake))
    return { reason: 'the agent was woken by this commit already' }
  const app = deps.apps.get(publication.integration)
  if (!app?.whyNotWoken) return { reason: 'nothing wakes the agents of this integration' }
  const found = await openSource(deps, context, publication, { app, since: null })
  if ('problem' in found) return { reason: found.problem }
  const reason = await app.whyNotWoken(found.source, { target, wake })
  const [later] = found.waits
  if (later !== undefined && begun + 1 < mostWaits) throw new Error(`what wakes it: ${later}`)
  if (reason !== undefined) return { reason: [reason, ...found.missing].join('; ') }
  if (isOfPerson(wake) || !isUsedUp(kept, wake)) return undefined
  const many = `the agent was woken ${mostWakes} times by this pull request without a word of a person`
  return { reason: many, isUsedUp: true }
}
