/** The turn of a delivery: deliveries of a thread go into its session one after the other, by one process at a time. */
import { isSessionOver } from '../../../sessions/log/head.ts'
import type { Queries, Reads } from '../../../ground/database/database.ts'
import { lockAdvisory } from '../../../ground/database/lock.ts'
import { rows } from '../../../ground/database/rows.ts'
import { headOfSession } from '../session.ts'
import type { DeliveryRow, ExternalThreadRow, PublicationRow } from '../store.ts'
import { integrationStore } from '../store.ts'
import { notifyIntegrations } from '../topics.ts'

/** Another process gave the delivery meanwhile, or an earlier delivery of the thread still waits. */
export class OvertakenError extends Error {}

/** The session ended, or the publication was paused, after the process read them. */
export class OutdatedError extends Error {}

export type DeliveryTurn = {
  delivery: DeliveryRow
  thread: ExternalThreadRow | undefined
  publication: PublicationRow
}

/** Locks the delivery whose turn it is. Throws when it is not this delivery's turn. */
export async function takeTurn(tx: Queries, seen: DeliveryRow): Promise<DeliveryTurn> {
  const { tenant_id: tenant, id, publication_id, scope } = seen
  const store = integrationStore(tx)
  await lockAdvisory(tx, `${tenant}/${publication_id}/${scope}`)
  const delivery = await rows(tx, 'integration_deliveries').findForUpdate(tenant, id)
  if (!delivery || delivery.due_ms === null || scope === null) throw new OvertakenError(id)
  const oldest = await store.oldestWaiting(tenant, publication_id, scope)
  if (oldest?.id !== id) throw new OvertakenError(id)
  const publication = await rows(tx, 'publications').get(tenant, publication_id)
  return {
    delivery,
    publication,
    thread: await store.findThreadForUpdate(tenant, publication_id, scope),
  }
}

/** The session of the thread; undefined when there is none, or when it has ended. */
export async function openSessionOf(
  read: Reads,
  tenant: string,
  thread: ExternalThreadRow | undefined,
): Promise<string | undefined> {
  const session = thread?.session_id ?? null
  const head = await headOfSession(read, tenant, session)
  return !head || isSessionOver(head) ? undefined : (session ?? undefined)
}

/** Now the next delivery of the thread may be due. */
export async function endDelivery(
  tx: Queries,
  delivery: DeliveryRow,
  end: Partial<DeliveryRow>,
): Promise<void> {
  await rows(tx, 'integration_deliveries').update(delivery, end)
  notifyIntegrations(tx)
}
