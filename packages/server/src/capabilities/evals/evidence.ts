/** Reads the evidence of graders from the log of a trial. */
import type { Sample } from '@steward/protocol/samples.ts'
import type { Reads } from '../../ground/database/database.ts'
import type { EventRow } from '../../sessions/log/log.ts'
import { eventOf, readEvents, readLogPage } from '../../sessions/log/log.ts'
import { tailPage } from '../../sessions/log/tail.ts'
import type { TrialEvidence } from './grade-trial.ts'
import { countKey } from './grade-trial.ts'
import type { SessionRef } from '../../ground/core/refs.ts'

export async function readTrialEvidence(
  read: Reads,
  ref: SessionRef,
  sample: Sample,
): Promise<TrialEvidence> {
  const counts = new Map<string, number>()
  const add = (key: string) => counts.set(key, (counts.get(key) ?? 0) + 1)
  let answer = ''
  for await (const row of readAllEvents(read, ref)) {
    add(row.type)
    const event = eventOf(row)
    if ('name' in event && typeof event.name === 'string') add(countKey(row.type, event.name))
    if (event.type === 'agent.message') answer = joinTexts(event.content)
  }
  return { answer, expected: sample.expected, counts }
}

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
