/** Scripted answers to the calls that a trial waits for. */
import { callTypes } from '@steward/protocol/call-events.ts'
import type { ClientEvent } from '@steward/protocol/events.ts'
import type { Sample } from '@steward/protocol/samples.ts'
import type { Reads } from '../../ground/database/database.ts'
import { eventOf, readEvents } from '../../sessions/log/log.ts'

type AnswerLookup = { ok: true; events: ClientEvent[] } | { ok: false; message: string }

/** Returns answers for all waiting calls, or none when one call has no scripted answer. */
export async function answersFor(
  read: Reads,
  { tenant, session }: { tenant: string; session: string },
  ids: readonly string[],
  { answers }: Sample,
): Promise<AnswerLookup> {
  const range = { types: callTypes, order: 'desc', limit: 200 } as const
  const rows = await readEvents(read, tenant, session, range)
  const events: ClientEvent[] = []
  for (const id of ids) {
    const row = rows.find((each) => each.id === id)
    const call = row && eventOf(row)
    const name = call && 'name' in call && typeof call.name === 'string' ? call.name : ''
    const event = answerTo(id, call?.type === 'agent.custom_tool_use', name, answers ?? [])
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
