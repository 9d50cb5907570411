/** Turns sessions into samples: their messages, their last answers, and the answers to waiting calls. */
import { parsedBy } from '@steward/protocol/problems.ts'
import type { Sample } from '@steward/protocol/samples.ts'
import { Sample as SampleSchema } from '@steward/protocol/samples.ts'
import { invalid } from '../../../ground/core/errors.ts'
import type { Reads } from '../../../ground/database/database.ts'
import { eventOf } from '../../../sessions/log/log.ts'
import { sessionStore } from '../../../sessions/rows/sessions.ts'
import { readAllEvents, joinTexts } from '../../../sessions/log/read-all.ts'
import type { NamedSample } from '../store.ts'
import type { SessionRef } from '../../../ground/core/refs.ts'

type SampleAnswers = NonNullable<Sample['answers']>

export async function samplesFrom(
  read: Reads,
  tenant: string,
  sessions: readonly string[],
): Promise<NamedSample[]> {
  const samples: NamedSample[] = []
  for (const [index, session] of sessions.entries()) {
    await sessionStore(read).get(tenant, session, 0)
    const sample = parsedBy(SampleSchema, await sampleOf(read, { tenant, session }))
    if (!sample.ok)
      throw invalid(
        `source.session_ids.${index}: session ${session} makes no sample: ${sample.problems}`,
      )
    samples.push({ id: session, sample: sample.value })
  }
  return samples
}

async function sampleOf(read: Reads, ref: SessionRef): Promise<object> {
  const input: object[] = []
  const names = new Map<string, string>()
  const answers = new Map<string, SampleAnswers[number]>()
  let expected: string | undefined
  for await (const row of readAllEvents(read, ref)) {
    const event = eventOf(row)
    if (event.type === 'user.message') input.push({ type: event.type, content: event.content })
    if (event.type === 'agent.message') expected = joinTexts(event.content)
    if ('name' in event && typeof event.name === 'string') names.set(event.id, event.name)
    if (event.type === 'user.tool_confirmation')
      put(answers, names.get(event.tool_use_id), { result: event.result })
    if (event.type === 'user.custom_tool_result') {
      const content = joinTexts(event.content ?? [])
      put(answers, names.get(event.custom_tool_use_id), {
        content,
        is_error: event.is_error ?? false,
      })
    }
  }
  return {
    id: ref.session,
    input,
    ...(expected !== undefined && { expected }),
    answers: [...answers.values()],
    metadata: { session_id: ref.session },
  }
}

/** The first answer to a tool stands for all calls of the tool. */
function put(
  answers: Map<string, SampleAnswers[number]>,
  tool: string | undefined,
  answer: Omit<SampleAnswers[number], 'tool'>,
): void {
  if (tool !== undefined && !answers.has(tool)) answers.set(tool, { tool, ...answer })
}
