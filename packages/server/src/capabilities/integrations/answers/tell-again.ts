/** Tells an answer again that its receiver has refused, when a person asks for it. */
import { invalid, notFound } from '../../../ground/core/errors.ts'
import type { Database, Reads } from '../../../ground/database/database.ts'
import type { FirstTelling } from '../../../ground/database/tables/integrations.ts'
import { rows } from '../../../ground/database/rows.ts'
import { joinTexts } from '../../../sessions/log/read-all.ts'
import { readHead } from '../../../sessions/log/head.ts'
import { eventOf, findEvent, readAt } from '../../../sessions/log/log.ts'
import type { Ground } from '../../../ground/ground.ts'
import { saveThread } from '../deliveries/threads.ts'
import type { DeliveryRow, PublicationRow } from '../store.ts'
import { integrationStore } from '../store.ts'
import { notifyIntegrations } from '../topics.ts'

/** The telling of an event that ends a turn; undefined for another event, and for one that is not there any more. */
async function tellingOf(
  read: Reads,
  { tenant_id: tenant, session_id: session, answer_event: id }: DeliveryRow,
): Promise<FirstTelling | undefined> {
  if (session === null || id === null) return undefined
  const { next_seq } = await readHead(read, tenant, session)
  const seq = await findEvent(read, { tenant, session }, id, next_seq)
  const [row] = seq === undefined ? [] : await readAt(read, tenant, session, [seq])
  if (!row) return undefined
  const event = eventOf(row)
  if (event.type === 'agent.message') return { kind: 'reply', id, text: joinTexts(event.content) }
  if (event.type === 'session.error') return { kind: 'error', id, message: event.error.message }
  return event.type === 'user.interrupt' ? { kind: 'stopped', id } : undefined
}

export async function tellAgain(
  { clock }: Ground,
  db: Database,
  { publication, delivery: id }: { publication: PublicationRow; delivery: string },
): Promise<DeliveryRow> {
  const { tenant_id: tenant } = publication
  return db.write(async (tx) => {
    const row = await rows(tx, 'integration_deliveries').findForUpdate(tenant, id)
    if (row?.publication_id !== publication.id) throw notFound('delivery', id)
    if (row.answer_state !== 'untold' || row.scope === null)
      throw invalid(
        `delivery_id: the answer to ${id} is ${row.answer_state ?? 'not there'}, and not untold`,
      )
    const telling = await tellingOf(tx, row)
    if (!telling)
      throw invalid(`delivery_id: the answer to ${id} is a question or is gone; ask the agent anew`)
    const found = await integrationStore(tx).findThreadForUpdate(tenant, publication.id, row.scope)
    if (found?.session_id !== row.session_id)
      throw invalid(`delivery_id: the thread of ${id} has another session now`)
    const first = { ...telling, ...(row.target && { target: row.target }) }
    const turn = { thread: found, delivery: row }
    await saveThread(tx, turn, { scope: row.scope }, { first, now: clock.now() })
    notifyIntegrations(tx)
    const columns = { answer_state: 'working', answer_reason: null } as const
    return rows(tx, 'integration_deliveries').update(row, columns)
  })
}
