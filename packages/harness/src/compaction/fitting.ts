/** Asks the model with what fits into its context. */
import { noUsage } from '@steward/model/model.ts'
import type { History } from '../history.ts'
import { messagesOf, sizeOf } from '../history.ts'
import type { RequestOutcome } from '../request.ts'
import { requestEnd } from '../request.ts'
import { askWithRetries, failed, sessionError } from '../retries.ts'
import type { KeptEvent, Tool, Turn, TurnStep } from '../turn.ts'
import { compact, isDue } from './compact.ts'

/** Bytes of a conversation that a model is asked with: the whole of it is written anew for each request. */
const mostBytes = 96 * 1024 * 1024

/** `history`: what was asked with. */
export type FittedRequest = { asked: RequestOutcome; history: History }

/**
 * Compacts when it is due. When the provider refuses the request as too long all the same, compacts once more and asks
 * again, once; a second refusal ends the turn with `compaction_limit_reached_error`.
 */
export async function* askFitting(
  turn: Turn,
  given: History,
  tools: ReadonlyMap<string, Tool>,
  begun?: string,
): AsyncGenerator<TurnStep, FittedRequest, void> {
  let history = given
  if (sizeOf(history) > mostBytes || isDue(turn, history, tools)) {
    const compacted = yield* compact(turn, history, tools, 'threshold')
    if (compacted.kind === 'interrupted')
      return { asked: interrupted([...compacted.last, ...cut(turn, begun)]), history }
    if (compacted.kind === 'compacted') history = compacted.history
  }
  if (sizeOf(history) > mostBytes) {
    const why = tooLong(turn, `it holds more than ${mostBytes} bytes`)
    return { asked: over([...cut(turn, begun), why]), history }
  }
  const asked = yield* askWithRetries(turn, messagesOf(history), tools, begun)
  if (asked.failure?.kind !== 'context_overflow') return { asked, history }
  yield { type: 'keep', kept: asked.kept }
  const compacted = yield* compact(turn, history, tools, 'overflow')
  switch (compacted.kind) {
    case 'interrupted':
      return { asked: interrupted(compacted.last), history }
    case 'unavailable':
      return { asked: over([failed(turn, compacted.failure, 'exhausted')]), history }
    case 'unchanged':
      return { asked: over([tooLong(turn, asked.failure.message)]), history }
    case 'compacted': {
      ;({ history } = compacted)
      const again = yield* askWithRetries(turn, messagesOf(history), tools)
      if (again.failure?.kind !== 'context_overflow') return { asked: again, history }
      const kept = [...again.kept, tooLong(turn, again.failure.message)]
      return { asked: over(kept), history }
    }
  }
}

/** Every start of a request has an end, also of one that was never made. */
export const cut = (turn: Turn, begun: string | undefined): KeptEvent[] =>
  begun ? [requestEnd(turn, begun, noUsage, true)] : []

const interrupted = (kept: KeptEvent[]): RequestOutcome => ({
  kept,
  calls: [],
  stop: 'interrupted',
})
const over = (kept: KeptEvent[]): RequestOutcome => ({ kept, calls: [], stop: 'failed' })

const tooLong = (turn: Turn, said: string): KeptEvent =>
  sessionError(turn, {
    type: 'compaction_limit_reached_error',
    message: `the conversation does not fit into the model's context, and cannot be made shorter: ${said}`,
  })
