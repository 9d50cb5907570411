/** Readers of a whole log. */
import type { SessionRef } from '../../ground/core/refs.ts'
import type { Reads } from '../../ground/database/database.ts'
import type { EventRow } from './log.ts'
import { eventOf, readEvents, readLogPage } from './log.ts'
import { tailPage } from './tail.ts'

/** The stored events of a session, or of one of its child threads, in order. */
export async function* readAllEvents(
  read: Reads,
  { tenant, session }: SessionRef,
  thread?: string,
): AsyncGenerator<EventRow, void, void> {
  for (let after = 0; ;) {
    const { rows, more } = await readLogPage(read, tenant, session, { after, thread, ...tailPage })
    yield* rows
    after = rows.at(-1)?.seq ?? after
    if (!more) return
  }
}

export const joinTexts = (content: readonly { type: string; text?: string }[]): string =>
  content.map(({ text = '' }) => text).join('')

/** The message of the last turn's error. */
export async function lastError(read: Reads, { tenant, session }: SessionRef): Promise<string> {
  const range = { types: ['session.error'], order: 'desc', limit: 1 } as const
  const [row] = await readEvents(read, tenant, session, range)
  const event = row && eventOf(row)
  return event?.type === 'session.error' ? event.error.message : 'the turn failed'
}
