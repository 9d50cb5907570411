/** The events of a page of items. */
import { pageBytes } from '../../../ground/database/listing.ts'
import type { EventRow } from '../../../sessions/log/log.ts'
import { fittingRows, withTexts } from '../../../sessions/log/texts.ts'
import type { ItemsPart } from './store.ts'
import { itemsStatement } from './store.ts'
import type { SessionLog } from './turns.ts'

/** The events between `after` and `before`, as many as fit a page. */
export async function itemRows(
  { read, tenant, session: sessionId, thread }: SessionLog,
  { order, limit, ...range }: ItemsPart,
): Promise<{ rows: EventRow[]; more: boolean }> {
  const part = {
    ...range,
    tenant,
    session: sessionId,
    thread: thread ?? undefined,
    limit: limit + 1,
  }
  const whose = thread === null ? 'session' : 'thread'
  const found = await itemsStatement(whose, order)(read, part)
  const rows = fittingRows(found, { limit, bytes: pageBytes })
  return {
    rows: await withTexts(read, tenant, sessionId, rows),
    more: rows.length < found.length,
  }
}
