/** Reads the evidence of graders from the log of a trial. */
import type { Sample } from '@steward/protocol/samples.ts'
import type { Reads } from '../../ground/database/database.ts'
import { eventOf } from '../../sessions/log/log.ts'
import { joinTexts, readAllEvents } from '../../sessions/log/read-all.ts'
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
