/** What comes for a pull request that an agent has opened belongs to the thread whose agent has opened it. */
import type { Database } from '../../../ground/database/database.ts'
import { integrationStore } from '../store.ts'
import type { ReadDelivery } from './routing.ts'

export async function moveToThreads(
  db: Database,
  read: readonly ReadDelivery[],
): Promise<ReadDelivery[]> {
  const store = integrationStore(db.read)
  const moved: ReadDelivery[] = []
  for (const { publication, incoming } of read) {
    const { tenant_id: tenant, id } = publication
    const own =
      incoming.kind === 'ignored'
        ? undefined
        : await store.ownPullRequest(tenant, id, incoming.scope)
    moved.push({
      publication,
      incoming:
        own && incoming.kind !== 'ignored' ? { ...incoming, scope: own.thread_scope } : incoming,
    })
  }
  return moved
}
