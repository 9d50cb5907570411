/** Messages that mention nobody, in threads that an agent has joined. */
import type { Database, Reads } from '../../../ground/database/database.ts'
import type { Incoming, IncomingMessage } from '../integration.ts'
import { integrationStore } from '../store.ts'
import type { PublicationRow } from '../store.ts'
import { sameName } from './listed-names.ts'
import type { ReadDelivery } from './routing.ts'
import { openSessionOf } from './turns.ts'

type FollowUp = { publication: PublicationRow; incoming: IncomingMessage }

const isFollowUp = (read: ReadDelivery): read is FollowUp =>
  read.incoming.kind === 'message' && read.incoming.isFollowUp === true

const notHeard: Incoming = {
  kind: 'ignored',
  reason: 'unrelated',
  field: 'no agent has joined the thread',
}

/** The agent has an open session in the thread, or a delivery of the thread waits for it. */
async function hasJoined(
  read: Reads,
  { publication: { tenant_id: tenant, id }, incoming: { scope } }: FollowUp,
): Promise<boolean> {
  const store = integrationStore(read)
  const thread = await store.threadOfScope(tenant, id, scope)
  if ((await openSessionOf(read, tenant, thread)) !== undefined) return true
  return (await store.oldestWaiting(tenant, id, scope)) !== undefined
}

const isNamed = ({ publication: { spec }, incoming: { named } }: FollowUp): boolean =>
  Boolean(spec.name && named?.word && sameName(spec.name, named.word))

/**
 * The agent that has joined the thread hears its follow-ups, unless the first word names another one. Where several have
 * joined, only the one that is named does: the message may be for any of them.
 */
export async function hearFollowUps(
  db: Database,
  read: readonly ReadDelivery[],
): Promise<ReadDelivery[]> {
  const all = read.filter(isFollowUp)
  const joined: FollowUp[] = []
  for (const each of all) if (await hasJoined(db.read, each)) joined.push(each)
  const named = all.filter(isNamed)
  const alone = joined.length > 1 ? [] : joined
  const heard = named.length > 0 ? joined.filter((each) => named.includes(each)) : alone
  return read.map((each) =>
    isFollowUp(each) && !heard.includes(each) ? { ...each, incoming: notHeard } : each,
  )
}
