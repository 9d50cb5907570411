/** Asks the model with a history that fits into its context. */
import type { History } from '../history.ts'
import { buildMessages, sizeOf } from '../history.ts'
import type { RequestOutcome } from '../request.ts'
import { cutText } from '../request.ts'
import { askWithRetries, failureEvent, sessionError } from '../retries.ts'
import type { KeptEvent, Tool, Turn, TurnStep } from '../turn.ts'
import { compactHistory, isCompactionDue } from './compact-history.ts'

/** Largest conversation of a request in bytes, because every request serializes the whole conversation. */
const mostBytes = 96 * 1024 * 1024

/** `history`: the history that the request was made of. */
export type FittedRequest = { asked: RequestOutcome; history: History }

/**
 * Compacts when the trigger is reached. If the provider still refuses the request as too long, compacts once more and
 * repeats it once. A second refusal ends the turn with `compaction_limit_reached_error`.
 */
export async function* askFittingSummary(
  turn: Turn,
  given: History,
  tools: ReadonlyMap<string, Tool>,
  begun?: string,
): AsyncGenerator<TurnStep, FittedRequest, unknown> {
  let history = given
  if (sizeOf(history) > mostBytes || isCompactionDue(turn, history, tools)) {
    const compacted = yield* compactHistory(turn, history, tools, 'threshold')
    if (compacted.kind === 'interrupted')
      return { asked: left(turn, [...compacted.last, ...cutText(turn, begun)]), history }
    if (compacted.kind === 'compacted') history = compacted.history
  }
  if (sizeOf(history) > mostBytes) {
    const why = tooLong(turn, `it holds more than ${mostBytes} bytes`)
    return { asked: over([...cutText(turn, begun), why]), history }
  }
  const asked = yield* askWithRetries(turn, buildMessages(history), tools, begun)
  if (asked.failure?.kind !== 'context_overflow') return { asked, history }
  yield { type: 'keep', kept: asked.kept }
  const compacted = yield* compactHistory(turn, history, tools, 'overflow')
  switch (compacted.kind) {
    case 'interrupted':
      return { asked: left(turn, compacted.last), history }
    case 'unavailable':
      return { asked: over([await failureEvent(turn, compacted.failure, 'exhausted')]), history }
    case 'unchanged':
      return { asked: over([tooLong(turn, asked.failure.message)]), history }
    case 'compacted': {
      ;({ history } = compacted)
      const again = yield* askWithRetries(turn, buildMessages(history), tools)
      if (again.failure?.kind !== 'context_overflow') return { asked: again, history }
      const kept = [...again.kept, tooLong(turn, again.failure.message)]
      return { asked: over(kept), history }
    }
  }
}

/** The outcome of a request that was not made. Without an interrupt, the reason is a reached budget. */
const left = ({ signal }: Turn, kept: KeptEvent[]): RequestOutcome => ({
  kept,
  calls: [],
  stop: signal.aborted ? 'interrupted' : 'budget_reached',
})
const over = (kept: KeptEvent[]): RequestOutcome => ({ kept, calls: [], stop: 'failed' })

const tooLong = (turn: Turn, said: string): KeptEvent =>
  sessionError(turn, {
    type: 'compaction_limit_reached_error',
    message: `the conversation does not fit into the model's context, and cannot be made shorter: ${said}`,
  })
