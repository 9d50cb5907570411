/** Model, tools, model … until the turn ends. */
import type { Message, ModelFailure } from '@steward/model/model.ts'
import { noUsage } from '@steward/model/model.ts'
import type { SessionErrorType } from '@steward/protocol/events.ts'
import type { Settling } from './calls.ts'
import { settleCalls } from './calls.ts'
import { copyHistory, foldHistory, messagesOf } from './history.ts'
import type { Asked } from './request.ts'
import { askModel, requestEnd } from './request.ts'
import type { Kept, StopReason, Tool, Turn, TurnEnd, TurnStep } from './turn.ts'

const longestRetryAfterMs = 60_000

export async function* runTurn(turn: Turn): AsyncGenerator<TurnStep, TurnEnd, void> {
  const tools = new Map(turn.tools.map((tool) => [tool.name, tool]))
  const history = copyHistory(turn.history)
  let calls: Settling[] = [...turn.open]
  let { begun } = turn
  for (let requests = 0; ; requests++) {
    if (calls.length > 0) {
      const { waiting, unkept, settled } = yield* settleCalls(turn, tools, calls)
      if (turn.signal.aborted) return end({ type: 'end_turn' }, unkept)
      if (waiting.length > 0) return end({ type: 'requires_action', event_ids: waiting })
      foldHistory(history, settled)
    }
    if (turn.signal.aborted) {
      return end({ type: 'end_turn' }, begun ? [requestEnd(turn, begun, noUsage, true)] : [])
    }
    if (requests >= turn.maxRequests) return end({ type: 'retries_exhausted' }, [tooMany(turn)])
    const asked = yield* askWithRetries(turn, messagesOf(history), tools, begun)
    begun = undefined
    const stop = stopOf(asked)
    if (stop) return end(stop, asked.kept)
    yield { type: 'keep', kept: asked.kept }
    foldHistory(history, asked.kept)
    calls = asked.calls.map(({ eventId, ...call }) => ({
      ...call,
      event_id: eventId,
      decision: tools.get(call.name)?.permission === 'ask' && !call.truncated ? 'wait' : 'run',
    }))
  }
}

const end = (stop: StopReason, last: Kept[] = []): TurnEnd => ({ stop, last })

/** Why the turn is over, or undefined while there are calls to settle. */
function stopOf({ stop, calls }: Asked): StopReason | undefined {
  if (stop === 'failed') return { type: 'retries_exhausted' }
  if (stop === 'refusal') return { type: 'refusal' }
  return stop === 'interrupted' || calls.length === 0 ? { type: 'end_turn' } : undefined
}

/** A failure that may pass is announced, waited for and tried again, as often as the turn allows. */
async function* askWithRetries(
  turn: Turn,
  messages: readonly Message[],
  tools: ReadonlyMap<string, Tool>,
  begun: string | undefined,
): AsyncGenerator<TurnStep, Asked, void> {
  for (let attempt = 0; ; attempt++) {
    const asked = yield* askModel(turn, messages, tools, attempt === 0 ? begun : undefined)
    if (!asked.failure) return asked
    const delayMs = turn.retryDelaysMs[attempt]
    if (!asked.failure.retryable || delayMs === undefined) {
      return { ...asked, kept: [...asked.kept, failure(turn, asked.failure, 'exhausted')] }
    }
    const rescheduled: Kept = {
      event: { id: turn.newEventId(), type: 'session.status_rescheduled' },
    }
    yield {
      type: 'keep',
      kept: [...asked.kept, failure(turn, asked.failure, 'retrying'), rescheduled],
    }
    const askedForMs = Math.min(asked.failure.retryAfterMs ?? 0, longestRetryAfterMs)
    await turn.sleep(Math.max(delayMs, askedForMs), turn.signal)
    if (turn.signal.aborted) return { kept: [], calls: [], stop: 'interrupted' }
    yield {
      type: 'keep',
      kept: [{ event: { id: turn.newEventId(), type: 'session.status_running' } }],
    }
  }
}

const errorTypes: Record<ModelFailure['kind'], SessionErrorType> = {
  overloaded: 'model_overloaded_error',
  rate_limited: 'model_rate_limited_error',
  billing: 'billing_error',
  authentication: 'model_request_failed_error',
  context_overflow: 'model_request_failed_error',
  unreachable: 'model_request_failed_error',
  refused_address: 'model_request_failed_error',
  request_failed: 'model_request_failed_error',
  aborted: 'unknown_error',
}

const failure = (
  turn: Turn,
  { kind, message }: ModelFailure,
  retry: 'retrying' | 'exhausted',
): Kept => sessionError(turn, errorTypes[kind], message, retry)

const tooMany = (turn: Turn): Kept =>
  sessionError(
    turn,
    'tool_use_limit_reached_error',
    `the turn was ended after ${turn.maxRequests} model requests; send a message to go on`,
    'exhausted',
  )

const sessionError = (
  turn: Turn,
  type: SessionErrorType,
  message: string,
  retry: 'retrying' | 'exhausted',
): Kept => ({
  event: {
    id: turn.newEventId(),
    type: 'session.error',
    error: { type, message, retry_status: { type: retry } },
  },
})
