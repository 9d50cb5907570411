import type { ModelCall, ModelEvent, ModelFailure, Usage } from '../model.ts'
import { noUsage } from '../model.ts'
import type { ModelSpec, Wire } from '../spec.ts'
import { redact, secretsOf } from './failure.ts'
import { mailbox } from './mailbox.ts'
import type { AssistantMessage, Library } from './pi.ts'
import { request } from './request.ts'

const aborted: ModelFailure = { kind: 'aborted', retryable: false, message: 'The call was aborted' }

/** Characters of an answer's content, and as many for each piece of it as its way through the process takes. */
const mostContent = 32 * 1024 * 1024
const perPiece = 64
const tooLong: ModelFailure = {
  kind: 'request_failed',
  retryable: false,
  message: `The answer is longer than ${mostContent} characters, in pieces of ${perPiece} or more`,
}

function sizeOf(event: ModelEvent): number {
  if (event.type === 'delta') return perPiece + event.delta.length
  const state = event.type === 'block_end' ? event.block.state : undefined
  return perPiece + (state?.length ?? 0)
}

/** Without a reason an abort makes an error and its trace, for nobody. */
const over = 'the call is over'

/** One request; see `Model.stream`. What ends it first, the signal, silence or the provider, has the last word. */
export async function* callWire(
  wire: Wire,
  spec: ModelSpec,
  load: (wire: Wire) => Promise<Library>,
  call: ModelCall,
): AsyncGenerator<ModelEvent> {
  const stop = new AbortController()
  const box = mailbox<ModelEvent>()
  let latest: AssistantMessage | undefined
  const fail = (failure: ModelFailure) => {
    box.last({ type: 'failed', failure, usage: usageOf(latest) })
    stop.abort()
  }
  const onAbort = () => {
    // What was received and not yet taken is no longer wanted.
    box.last({ type: 'failed', failure: aborted, usage: usageOf(latest) }, { instead: true })
    stop.abort()
  }
  const idle = idleTimer(spec.idleTimeoutMs, fail)
  let size = 0
  const reader = {
    emit(event: ModelEvent) {
      size += sizeOf(event)
      if (size > mostContent) return fail(tooLong)
      box.put(event)
    },
    saw: (partial: AssistantMessage) => {
      latest = partial
      idle?.refresh()
    },
  }
  call.signal.addEventListener('abort', onAbort, { once: true })
  if (call.signal.aborted) onAbort()
  else void begin()
  try {
    for (let event = await box.take(); event !== undefined; event = await box.take()) yield event
  } finally {
    clearTimeout(idle)
    call.signal.removeEventListener('abort', onAbort)
    stop.abort(over)
  }

  async function begin(): Promise<void> {
    try {
      const outcome = await request(await load(wire), wire, spec, call, stop.signal, reader)
      if (outcome.type === 'failed') fail(outcome.failure)
      else box.last({ ...outcome, usage: usageOf(latest) })
    } catch (error) {
      const message = redact(String(error), secretsOf(spec))
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

function usageOf(message: AssistantMessage | undefined): Usage {
  if (message === undefined) return noUsage
  const { input, output, cacheRead, cacheWrite } = message.usage
  return {
    input_tokens: input,
    output_tokens: output,
    cache_read_input_tokens: cacheRead,
    cache_creation_input_tokens: cacheWrite,
  }
}
