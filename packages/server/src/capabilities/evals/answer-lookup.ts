/** Scripted answers to the calls that a trial waits for. */
import type { ClientEvent, NewEvent } from '@steward/protocol/events.ts'
import type { Sample } from '@steward/protocol/samples.ts'
import type { Reads } from '../../ground/database/database.ts'
import { openCalls, waitsForPerson } from '../../sessions/log/calls.ts'
import { eventOf, readAt } from '../../sessions/log/log.ts'
import type { SessionRef } from '../../ground/core/refs.ts'

type AnswerLookup = { ok: true; events: ClientEvent[] } | { ok: false; message: string }

/** The open calls of a session that wait for a person, in the order they were made. The others wait for a worker. */
export async function callsForPeople(
  read: Reads,
  { tenant, session }: SessionRef,
): Promise<NewEvent[]> {
  const open = await openCalls(read, tenant, session)
  if (open.length === 0) return []
  const asked = new Set(open.flatMap(({ state, event_id }) => (state === 'asked' ? event_id : [])))
  const seqs = open.map(({ seq }) => seq)
  const rows = await readAt(read, tenant, session, seqs)
  return rows.map(eventOf).filter((call) => waitsForPerson(call, !asked.has(call.id)))
}

/** Returns answers for all these calls, or none when one call has no scripted answer. */
export function answersFor(calls: readonly NewEvent[], { answers }: Sample): AnswerLookup {
  const events: ClientEvent[] = []
  for (const call of calls) {
    const name = 'name' in call && typeof call.name === 'string' ? call.name : ''
    const event = answerTo(call.id, call.type === 'agent.custom_tool_use', name, answers ?? [])
    if (!event)
      return {
        ok: false,
        message: `the trial waits for an answer to ${name}, and answers has none`,
      }
    events.push(event)
  }
  return { ok: true, events }
}

function answerTo(
  id: string,
  isCustom: boolean,
  name: string,
  answers: NonNullable<Sample['answers']>,
): ClientEvent | undefined {
  const answer = answers.find(({ tool, result }) => tool === name && isCustom === !result)
  if (answer?.result)
    return { type: 'user.tool_confirmation', tool_use_id: id, result: answer.result }
  if (!answer) return undefined
  return {
    type: 'user.custom_tool_result',
    custom_tool_use_id: id,
    content: [{ type: 'text', text: answer.content ?? '' }],
    is_error: answer.is_error ?? false,
  }
}
