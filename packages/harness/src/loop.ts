/** Model, tools, model … until the turn ends. */
import type { Message, ModelFailure } from '@steward/model/model.ts'
import { noUsage } from '@steward/model/model.ts'
import type { SessionErrorType, SessionFailure } from '@steward/protocol/events.ts'
import { settleCalls, sortCalls } from './calls.ts'
import { foldHistory, messagesOf } from './history.ts'
import type { Asked } from './request.ts'
import { askModel, requestEnd } from './request.ts'
import type { Kept, OpenCall, StopReason, Tool, Turn, TurnEnd, TurnStep } from './turn.ts'

const longestRetryAfterMs = 60_000

export async function* runTurn(turn: Turn): AsyncGenerator<TurnStep, TurnEnd, void> {
  const { stop, last } = yield* rounds(turn)
  return end(stop, [...last, ...failuresOf(turn)])
}

async function* rounds(turn: Turn): AsyncGenerator<TurnStep, TurnEnd, void> {
  const { servers, signal } = turn
  let { history, begun } = turn
  let calls: readonly OpenCall[] = turn.open
  const needed = calls.flatMap(({ name, decision }) => (decision === 'wait' ? [] : [name]))
  if (needed.length > 0) await servers.ready({ needed, signal })
  let tools = toolsNow(turn)
  for (let requests = 0; ; requests++) {
    if (calls.length > 0) {
      const { waiting, unkept, kept, failure } = yield* settleCalls(turn, tools, calls)
      if (turn.signal.aborted) return end({ type: 'end_turn' }, [...unkept, ...cut(turn, begun)])
      if (failure)
        return end({ type: 'retries_exhausted' }, [
          sessionError(turn, failure),
          ...cut(turn, begun),
        ])
      if (waiting.length > 0) return end({ type: 'requires_action', event_ids: waiting })
      history = foldHistory(history, kept)
    }
    await servers.ready({ needed: [], signal })
    if (turn.signal.aborted) return end({ type: 'end_turn' }, cut(turn, begun))
    if (requests >= turn.maxRequests) {
      return end({ type: 'retries_exhausted' }, [...cut(turn, begun), tooMany(turn)])
    }
    const failures = failuresOf(turn)
    if (failures.length > 0) yield { type: 'keep', kept: failures }
    tools = toolsNow(turn)
    const asked = yield* askWithRetries(turn, messagesOf(history), tools, begun)
    begun = undefined
    const stop = stopOf(asked)
    if (stop) return end(stop, asked.kept)
    const sorted = sortCalls(turn, tools, asked.calls)
    const kept = [...asked.kept, ...sorted.refused]
    yield { type: 'keep', kept }
    history = foldHistory(history, kept)
    calls = sorted.calls
  }
}

const end = (stop: StopReason, last: Kept[] = []): TurnEnd => ({ stop, last })

const toolsNow = ({ tools, servers }: Turn): ReadonlyMap<string, Tool> =>
  new Map([...tools, ...servers.tools()].map((tool) => [tool.name, tool]))

/** Servers that are not there now: the turn goes on without them, and the next one tries again. */
const failuresOf = (turn: Turn): Kept[] =>
  turn.servers.failures().map(({ server, type, message }) => ({
    event: {
      id: turn.newEventId(),
      type: 'session.error',
      error: { type, message, mcp_server_name: server, retry_status: { type: 'retrying' } },
    },
  }))

/** Every start of a request has an end, also of one that was never made. */
const cut = (turn: Turn, begun: string | undefined): Kept[] =>
  begun ? [requestEnd(turn, begun, noUsage, true)] : []

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

function failure(
  turn: Turn,
  { kind, message }: ModelFailure,
  retry: 'retrying' | 'exhausted',
): Kept {
  const said =
    kind === 'context_overflow'
      ? `the conversation no longer fits into the model's context window: ${message}`
      : message
  return sessionError(turn, { type: errorTypes[kind], message: said }, retry)
}

const tooMany = (turn: Turn): Kept =>
  sessionError(turn, {
    type: 'tool_use_limit_reached_error',
    message: `the turn was ended after ${turn.maxRequests} model requests; send a message to go on`,
  })

const sessionError = (
  turn: Turn,
  failure: SessionFailure,
  retry: 'retrying' | 'exhausted' = 'exhausted',
): Kept => ({
  event: {
    id: turn.newEventId(),
    type: 'session.error',
    error: { ...failure, retry_status: { type: retry } },
  },
})
