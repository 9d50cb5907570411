/** Reads the events of a session that is replayed. A replay holds all of them. */
import { invalid } from '../../ground/core/errors.ts'
import type { Reads } from '../../ground/database/database.ts'
import type { EventRow } from '../../sessions/log/log.ts'
import { readLogPage } from '../../sessions/log/log.ts'
import { tailPage } from '../../sessions/log/tail.ts'
import type { SessionRef } from '../../ground/core/refs.ts'

/** The longest log that is replayed. */
const longest = { events: 20_000, bytes: 64 * 1024 * 1024 }

export async function replayedEvents(
  read: Reads,
  { tenant, session }: SessionRef,
  most = longest,
): Promise<EventRow[]> {
  const events: EventRow[] = []
  let bytes = 0
  for (let after = 0; ;) {
    const page = await readLogPage(read, tenant, session, { after, ...tailPage })
    events.push(...page.rows)
    bytes += page.size
    if (events.length > most.events)
      throw invalid(`session_id: a session of more than ${most.events} events is not replayed`)
    if (bytes > most.bytes)
      throw invalid(
        `session_id: a session of more than ${most.bytes} bytes of events is not replayed`,
      )
    after = page.rows.at(-1)?.seq ?? after
    if (!page.more) return events
  }
}
