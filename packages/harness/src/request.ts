/** One request to the model: frames while it streams, events when it is complete. */
import { awaitLater } from '@steward/base/await-later.ts'
import type { Message, ModelEvent, ModelFailure, ToolSpec, Usage } from '@steward/model/model.ts'
import { noUsage } from '@steward/model/model.ts'
import type { ModelAnswer, ModelToolCall } from './answer.ts'
import { readAnswer } from './answer.ts'
import type { KeptEvent, Tool, Turn, TurnStep } from './turn.ts'

/** `kept` ends with `span.model_request_end`. The caller stores it. */
export type RequestOutcome = {
  kept: KeptEvent[]
  calls: ModelToolCall[]
  stop:
    | 'end_turn'
    | 'tool_use'
    | 'max_tokens'
    | 'refusal'
    | 'failed'
    | 'interrupted'
    | 'budget_reached'
  failure?: ModelFailure
}

/** A string as the reason avoids creating an error with its stack. */
const over = 'the request is over'

/** `begun`: id of a `span.model_request_start` that is stored already. */
export async function* askModel(
  turn: Turn,
  messages: readonly Message[],
  tools: ReadonlyMap<string, Tool>,
  begun?: string,
): AsyncGenerator<TurnStep, RequestOutcome, unknown> {
  const { model, system, cacheKey, answerSchema } = turn
  const traceparent = turn.traceparent?.()
  const startId = begun ?? turn.newEventId()
  const began = performance.now()
  const left = new AbortController()
  const signal = AbortSignal.any([turn.signal, left.signal])
  const specs = [...tools.values()].map(toToolSpec)
  const stream = model
    .stream({
      system,
      messages,
      tools: specs,
      cacheKey,
      signal,
      ...(answerSchema && { answerSchema }),
      ...(traceparent && { traceparent }),
    })
    [Symbol.asyncIterator]()
  try {
    // A model request may be repeated, so it need not wait until its start is stored.
    const first = awaitLater(stream.next())
    if (!begun) yield keep([requestStart(startId)])
    const answer = readAnswer(turn, tools)
    for (let step = await first, isFirst = true; !step.done; step = await stream.next()) {
      const event = step.value
      if (event.type === 'end') return finish(turn, startId, answer, event)
      if (event.type === 'failed') return yield* fail(turn, startId, answer, event)
      if (isFirst) {
        const ms = Math.round(performance.now() - began)
        yield { type: 'frame', frame: { kind: 'first_token', id: startId, ms } }
      }
      isFirst = false
      for (const frame of answer.take(event)) yield { type: 'frame', frame }
    }
    throw new Error('the model ended its stream without an end')
  } finally {
    left.abort(over)
    await stream.return?.()
  }
}

const keep = (kept: KeptEvent[]): TurnStep => ({ type: 'keep', kept })
export const toToolSpec = ({ name, description, input_schema }: Tool): ToolSpec => ({
  name,
  description,
  input_schema,
})

export const requestStart = (id: string): KeptEvent => ({
  event: { id, type: 'span.model_request_start' },
})

const requestEnd = (turn: Turn, startId: string, usage: Usage, is_error: boolean): KeptEvent => ({
  event: {
    id: turn.newEventId(),
    type: 'span.model_request_end',
    model_request_start_id: startId,
    is_error,
    model_usage: usage,
  },
})

/** Ends a started request span, also of a request that was never sent. */
export const cutText = (turn: Turn, begun: string | undefined): KeptEvent[] =>
  begun ? [requestEnd(turn, begun, noUsage, true)] : []

function finish(
  turn: Turn,
  startId: string,
  answer: ModelAnswer,
  { stop, usage }: Extract<ModelEvent, { type: 'end' }>,
): RequestOutcome {
  const end = requestEnd(turn, startId, usage, false)
  // Calls of an answer that the model refused to continue are not run.
  if (stop === 'refusal') return { kept: [...answer.withoutCalls(), end], calls: [], stop }
  const { kept, calls } = answer.whole(stop === 'max_tokens')
  // A call that was cut is answered by its result.
  const isCut = stop === 'max_tokens' && calls.length === 0
  return { kept: [...kept, ...(isCut ? [cutWarning(turn)] : []), end], calls, stop }
}

const cutWarning = (turn: Turn): KeptEvent => ({
  event: {
    id: turn.newEventId(),
    type: 'session.warning',
    reason: 'max_output_tokens',
    message: 'the answer was cut at the output limit of its model; send a message to go on',
  },
})

/** No event of a failed answer is stored. Of an interrupted answer the texts that people saw are stored. */
function* fail(
  turn: Turn,
  startId: string,
  answer: ModelAnswer,
  { failure, usage }: Extract<ModelEvent, { type: 'failed' }>,
): Generator<TurnStep, RequestOutcome> {
  for (const frame of answer.break()) yield { type: 'frame', frame }
  const end = requestEnd(turn, startId, usage, true)
  return turn.signal.aborted
    ? { kept: [...answer.withoutCalls(), end], calls: [], stop: 'interrupted' }
    : { kept: [end], calls: [], stop: 'failed', failure }
}
