import type { ModelCall, ModelEvent, ModelFailure, Usage } from '../model.ts'
import { noUsage } from '../model.ts'
import type { ModelSpec, ModelWire } from '../spec.ts'
import { redactSecrets, modelSecrets } from './failure.ts'
import { createMailbox } from './mailbox.ts'
import type { AssistantMessage, WireLibrary } from './pi.ts'
import { abortedFailure, requestAnswer } from './request.ts'

/** Characters of an answer's content. An event of the log must hold it, where one character may take six bytes. */
const mostContent = 8 * 1024 * 1024
/** Pieces of an answer; each of them is handled by the whole process. */
const mostPieces = 512 * 1024
const tooLong: ModelFailure = {
  kind: 'request_failed',
  retryable: false,
  message: `The answer is longer than ${mostContent} characters or ${mostPieces} pieces`,
}

function lengthOf(event: ModelEvent): number {
  if (event.type === 'delta') return event.delta.length
  const state = event.type === 'block_end' ? event.block.state : undefined
  return state?.length ?? 0
}

/** A string as the reason avoids creating an error with its stack. */
const over = 'the call is over'

/** Runs one request, see `Model.stream`. The first of signal, timeout and provider decides the last event. */
export async function* callWire(
  wire: ModelWire,
  spec: ModelSpec,
  load: (wire: ModelWire) => Promise<WireLibrary>,
  call: ModelCall,
): AsyncGenerator<ModelEvent> {
  const stop = new AbortController()
  const box = createMailbox()
  let latest: AssistantMessage | undefined
  const fail = (failure: ModelFailure) => {
    box.last({ type: 'failed', failure, usage: usageOf(latest) })
    stop.abort(over)
  }
  const onAbort = () => {
    // Events that were received and not yet taken are dropped.
    box.last({ type: 'failed', failure: abortedFailure, usage: usageOf(latest) }, { instead: true })
    stop.abort(over)
  }
  const idle = idleTimer(spec.idleTimeoutMs, fail)
  const late = answerTimer(spec.answerTimeoutMs, fail)
  let [content, pieces] = [0, 0]
  const reader = {
    emit(event: ModelEvent) {
      content += lengthOf(event)
      if (content > mostContent || ++pieces > mostPieces) return fail(tooLong)
      box.put(event)
    },
    saw: (partial: AssistantMessage) => {
      latest = partial
    },
    alive: () => void idle?.refresh(),
    room: () => box.room(),
  }
  call.signal.addEventListener('abort', onAbort, { once: true })
  if (call.signal.aborted) onAbort()
  else void begin()
  try {
    for (let event = await box.take(); event !== undefined; event = await box.take()) yield event
  } finally {
    clearTimeout(idle)
    clearTimeout(late)
    call.signal.removeEventListener('abort', onAbort)
    box.close()
    stop.abort(over)
  }

  async function begin(): Promise<void> {
    try {
      const outcome = await requestAnswer(await load(wire), wire, spec, call, stop.signal, reader)
      if (outcome.type === 'failed') fail(outcome.failure)
      else box.last({ ...outcome, usage: usageOf(latest) })
    } catch (error) {
      const message = redactSecrets(String(error), modelSecrets(spec))
      fail({ kind: 'request_failed', retryable: false, message })
    }
  }
}

function idleTimer(ms: number | undefined, fail: (failure: ModelFailure) => void) {
  if (ms === undefined) return undefined
  return setTimeout(() => {
    const message = `The model sent nothing for ${ms / 1000} s`
    fail({ kind: 'unreachable', retryable: true, message })
  }, ms)
}

/** Without this limit an endpoint that sends a word a second could hold its turn for weeks. */
function answerTimer(ms: number | undefined, fail: (failure: ModelFailure) => void) {
  if (ms === undefined) return undefined
  return setTimeout(() => {
    const message = `The answer took longer than ${ms / 60_000} minutes`
    fail({ kind: 'request_failed', retryable: false, message })
  }, ms)
}

function usageOf(message: AssistantMessage | undefined): Usage {
  if (message === undefined) return noUsage
  const { input, output, cacheRead, cacheWrite } = message.usage
  return {
    input_tokens: tokensIn(input),
    output_tokens: tokensIn(output),
    cache_read_input_tokens: tokensIn(cacheRead),
    cache_creation_input_tokens: tokensIn(cacheWrite),
  }
}

/** More than any request has. A sum of such counts is exact for as long as a service lives. */
const mostTokens = 1e8

/** An endpoint may send anything as a count. A negative number, or a value that is no number, counts as 0. */
const tokensIn = (count: unknown): number =>
  typeof count === 'number' && count > 0 ? Math.min(Math.ceil(count), mostTokens) : 0
