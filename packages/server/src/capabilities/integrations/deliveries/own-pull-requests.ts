/** What comes for a pull request that an agent has opened belongs to the thread whose agent has opened it. */
import type { Database } from '../../../ground/database/database.ts'
import type { Wake } from '../../../ground/database/tables/integrations.ts'
import type { Incoming } from '../integration.ts'
import type { OwnPullRequest } from '../store.ts'
import { integrationStore } from '../store.ts'
import type { ReadDelivery } from './routing.ts'
import { openSessionOf } from './turns.ts'

type OwnedDelivery = ReadDelivery & { own: OwnPullRequest | undefined }

const wakeOf = ({ incoming }: ReadDelivery): Wake | undefined =>
  incoming.kind === 'message' ? incoming.wake : undefined

const notOwn: Incoming = {
  kind: 'ignored',
  reason: 'unrelated',
  field: 'it is no pull request of the agent',
}

function moved({ publication, incoming, own }: OwnedDelivery): ReadDelivery {
  if (!own || incoming.kind === 'ignored') return { publication, incoming }
  const { thread_scope: scope } = own
  if (incoming.kind !== 'message' || !incoming.wake)
    return { publication, incoming: { ...incoming, scope } }
  const wake = { ...incoming.wake, opener: 'agent' } as const
  return { publication, incoming: { ...incoming, scope, wake } }
}

async function hasSession(
  db: Database,
  { publication, incoming }: OwnedDelivery,
): Promise<boolean> {
  if (incoming.kind === 'ignored') return false
  const { tenant_id: tenant, id } = publication
  const thread = await integrationStore(db.read).threadOfScope(tenant, id, incoming.scope)
  return (await openSessionOf(db.read, tenant, thread)) !== undefined
}

/**
 * The publications whose agents may be woken: the one whose agent has opened the pull request. Where none has by its
 * tool, the app may have: then the one that works on it, or the one that mentions without a name call.
 */
async function wokenOf(
  db: Database,
  found: readonly OwnedDelivery[],
): Promise<readonly OwnedDelivery[]> {
  const wakes = found.filter((each) => wakeOf(each) !== undefined)
  const own = found.filter((each) => each.own !== undefined)
  if (own.length > 0) return wakes.filter((each) => own.includes(each))
  const possible = wakes.filter((each) => wakeOf(each)?.opener !== 'other')
  if (possible.length < 2) return possible
  const working: OwnedDelivery[] = []
  for (const each of possible) if (await hasSession(db, each)) working.push(each)
  if (working.length === 1) return working
  return possible.filter(({ publication: { spec } }) => !spec.name)
}

export async function moveToThreads(
  db: Database,
  read: readonly ReadDelivery[],
): Promise<ReadDelivery[]> {
  const store = integrationStore(db.read)
  const found: OwnedDelivery[] = []
  for (const each of read) {
    const { tenant_id: tenant, id } = each.publication
    const own =
      each.incoming.kind === 'ignored' || each.publication.integration !== 'github'
        ? undefined
        : await store.ownPullRequest(tenant, id, each.incoming.scope)
    found.push({ ...each, own })
  }
  const woken = await wokenOf(db, found)
  return found.map((each) =>
    wakeOf(each) && !woken.includes(each)
      ? { publication: each.publication, incoming: notOwn }
      : moved(each),
  )
}
