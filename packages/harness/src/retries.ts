/** Repeats a model request until it succeeds or fails for good, and reports the errors. */
import type { Message, ModelFailure } from '@steward/model/model.ts'
import type { SessionErrorType, SessionFailure } from '@steward/protocol/events.ts'
import type { RequestOutcome } from './request.ts'
import { askModel, cutText } from './request.ts'
import type { KeptEvent, Tool, Turn, TurnStep } from './turn.ts'

const longestRetryAfterMs = 60_000

export const mayAsk = async ({ mayAsk }: Pick<Turn, 'mayAsk'>): Promise<boolean> =>
  (await mayAsk?.()) ?? true

/**
 * A temporary failure is reported and repeated after a delay, as often as the turn allows. A lasting failure becomes an
 * error in `kept`. A conversation that is too long is returned to the caller, which shortens it or reports the error.
 */
export async function* askWithRetries(
  turn: Turn,
  messages: readonly Message[],
  tools: ReadonlyMap<string, Tool>,
  begun?: string,
): AsyncGenerator<TurnStep, RequestOutcome, unknown> {
  for (let attempt = 0; ; attempt++) {
    const started = attempt === 0 ? begun : undefined
    if (!(await mayAsk(turn)))
      return { kept: cutText(turn, started), calls: [], stop: 'budget_reached' }
    const asked = yield* askModel(turn, messages, tools, started)
    if (!asked.failure || asked.failure.kind === 'context_overflow') return asked
    const delayMs = turn.retryDelaysMs[attempt]
    if (!asked.failure.retryable || delayMs === undefined) {
      return {
        ...asked,
        kept: [...asked.kept, await failureEvent(turn, asked.failure, 'exhausted')],
      }
    }
    const pauseMs = Math.max(
      delayMs,
      Math.min(asked.failure.retryAfterMs ?? 0, longestRetryAfterMs),
    )
    const failed = await failureEvent(turn, asked.failure, 'retrying')
    const rescheduled: KeptEvent = {
      event: { id: turn.newEventId(), type: 'session.status_rescheduled' },
    }
    yield {
      type: 'keep',
      kept: [...asked.kept, { ...failed, retry_ms: pauseMs }, rescheduled],
    }
    await turn.sleep(pauseMs, turn.signal)
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

export async function failureEvent(
  turn: Turn,
  failure: ModelFailure,
  retry: 'retrying' | 'exhausted',
): Promise<KeptEvent> {
  const message = isRefusal(failure)
    ? `${failure.message}${howToGoOn(await turn.accepted?.())}`
    : failure.message
  return sessionError(turn, { type: errorTypes[failure.kind], message }, retry)
}

/** The provider takes exception to the request itself, which each later turn of the session repeats. */
const isRefusal = ({ kind, retryable, status }: ModelFailure): boolean =>
  kind === 'request_failed' && !retryable && (status === 400 || status === 422)

function howToGoOn(accepted: number | undefined): string {
  const server =
    accepted === undefined
      ? '`at_seq` before the event that brought it'
      : `\`at_seq\` ${accepted}, the last event that was accepted`
  return ` (if the next message fails too, something in the conversation is refused: fork the session with ${server}, or go on with another model)`
}

export const sessionError = (
  turn: Turn,
  failure: SessionFailure,
  retry: 'retrying' | 'exhausted' = 'exhausted',
): KeptEvent => ({
  event: {
    id: turn.newEventId(),
    type: 'session.error',
    error: { ...failure, retry_status: { type: retry } },
  },
})
