/** The loop of a turn: model, tools, model … until the turn ends. */
import { settleCalls, sortCalls } from './calls.ts'
import { askFittingSummary } from './compaction/fitted-request.ts'
import type { History } from './history.ts'
import { foldHistory } from './history.ts'
import type { RequestOutcome } from './request.ts'
import { cutText, requestStart } from './request.ts'
import { sessionError } from './retries.ts'
import { noServers } from './tools/mcp/servers.ts'
import type {
  KeepReply,
  KeptEvent,
  OpenCall,
  StopReason,
  Tool,
  Turn,
  TurnEnd,
  TurnStep,
} from './turn.ts'

export async function* runTurn(turn: Turn): AsyncGenerator<TurnStep, TurnEnd, KeepReply> {
  const { stop, last } = yield* rounds(turn)
  return end(stop, [...last, ...failuresOf(turn)])
}

async function* rounds(turn: Turn): AsyncGenerator<TurnStep, TurnEnd, KeepReply> {
  const { servers, signal } = turn
  let { history, begun } = turn
  let calls: readonly OpenCall[] = turn.open
  const needed = calls.flatMap(({ name, decision }) => (decision === 'wait' ? [] : [name]))
  if (needed.length > 0) await servers.ready({ needed, signal })
  let tools = toolsNow(turn)
  let unread = 0
  for (let requests = 0; ; requests++) {
    if (calls.length > 0) {
      const isOpen = begun === undefined && requests < turn.maxRequests
      const startNext = () => (isOpen ? nextStart(turn) : undefined)
      const settled = yield* settleCalls(turn, tools, calls, startNext)
      const { waiting, unkept, kept, failure } = settled
      begun ??= settled.begun
      if (turn.signal.aborted)
        return end({ type: 'end_turn' }, [...unkept, ...cutText(turn, begun)])
      if (failure)
        return end({ type: 'retries_exhausted' }, [
          sessionError(turn, failure),
          ...cutText(turn, begun),
        ])
      if (waiting.length > 0) return end({ type: 'requires_action', event_ids: waiting })
      history = foldHistory(history, kept)
    }
    await servers.ready({ needed: [], signal })
    if (turn.signal.aborted) return end({ type: 'end_turn' }, cutText(turn, begun))
    if (requests >= turn.maxRequests) {
      return end({ type: 'retries_exhausted' }, [...cutText(turn, begun), tooMany(turn)])
    }
    history = await withJoined(turn, history)
    const failures = failuresOf(turn)
    if (failures.length > 0) yield { type: 'keep', kept: failures }
    tools = toolsNow(turn)
    const fitted = yield* askFittingSummary(turn, history, tools, begun)
    const { asked } = fitted
    ;({ history } = fitted)
    begun = undefined
    const stop = stopOf(asked)
    if (stop) return end(stop, asked.kept)
    const sorted = await sortCalls(turn, tools, asked.calls)
    const kept = [...asked.kept, ...sorted.refused]
    unread = asked.calls.every((call) => call.unread !== undefined) ? unread + 1 : 0
    if (unread === mostUnread) return end({ type: 'retries_exhausted' }, [...kept, neverRead(turn)])
    yield { type: 'keep', kept }
    history = foldHistory(history, kept)
    calls = sorted.calls
  }
}

/**
 * The start event of the next request. Undefined for a turn that waits for its servers first, checks its budget after
 * all calls, or is left.
 */
function nextStart({ servers, isLeft, mayAsk, newEventId }: Turn): KeptEvent | undefined {
  if (servers !== noServers || mayAsk || isLeft?.()) return undefined
  return requestStart(newEventId())
}

const withJoined = async ({ joined }: Turn, history: History): Promise<History> =>
  (await joined?.()) ?? history

const end = (stop: StopReason, last: KeptEvent[] = []): TurnEnd => ({ stop, last })

const toolsNow = ({ tools, servers }: Turn): ReadonlyMap<string, Tool> =>
  new Map([...tools, ...servers.tools()].map((tool) => [tool.name, tool]))

/** Reports MCP servers that cannot be reached. The turn continues without them, and the next turn tries again. */
const failuresOf = (turn: Turn): KeptEvent[] =>
  turn.servers.failures().map(({ server, type, message }) => ({
    event: {
      id: turn.newEventId(),
      type: 'session.error',
      error: { type, message, mcp_server_name: server, retry_status: { type: 'retrying' } },
    },
  }))

/** The reason why the turn is over; undefined while there are calls to settle. */
function stopOf({ stop, calls }: RequestOutcome): StopReason | undefined {
  if (stop === 'failed') return { type: 'retries_exhausted' }
  if (stop === 'refusal' || stop === 'budget_reached') return { type: stop }
  return stop === 'interrupted' || calls.length === 0 ? { type: 'end_turn' } : undefined
}

/** Answers in a row whose calls cannot be read: a model that writes them so does not stop by itself. */
const mostUnread = 5

const neverRead = (turn: Turn): KeptEvent =>
  sessionError(turn, {
    type: 'tool_use_limit_reached_error',
    message: `the turn was ended after ${mostUnread} answers in a row whose calls were not whole JSON; send a message to go on, or choose another model`,
  })

const tooMany = (turn: Turn): KeptEvent =>
  sessionError(turn, {
    type: 'tool_use_limit_reached_error',
    message: `the turn was ended after ${turn.maxRequests} model requests; send a message to go on`,
  })
