import type { ModelCall, ModelEvent, ModelFailure, Usage } from '../model.ts'
import { noUsage } from '../model.ts'
import type { ModelSpec, Wire } from '../spec.ts'
import { redact } from './failure.ts'
import { mailbox } from './mailbox.ts'
import type { AssistantMessage, Library } from './pi.ts'
import { request } from './request.ts'

const aborted: ModelFailure = { kind: 'aborted', retryable: false, message: 'The call was aborted' }

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
  const finish = (last: ModelEvent) => {
    box.put(last)
    box.shut()
    stop.abort()
  }
  const fail = (failure: ModelFailure) => {
    finish({ type: 'failed', failure, usage: usageOf(latest) })
  }
  const onAbort = () => fail(aborted)
  const idle = idleTimer(spec.idleTimeoutMs, fail)
  const reader = {
    emit: (event: ModelEvent) => box.put(event),
    saw: (partial: AssistantMessage) => {
      latest = partial
      idle?.refresh()
    },
  }
  call.signal.addEventListener('abort', onAbort, { once: true })
  if (call.signal.aborted) onAbort()
  else void begin()
  try {
    for (let events = await box.take(); events.length > 0; events = await box.take()) yield* events
  } finally {
    clearTimeout(idle)
    call.signal.removeEventListener('abort', onAbort)
    stop.abort()
  }

  async function begin(): Promise<void> {
    try {
      const outcome = await request(await load(wire), wire, spec, call, stop.signal, reader)
      if (outcome.type === 'failed') fail(outcome.failure)
      else finish({ ...outcome, usage: usageOf(latest) })
    } catch (error) {
      const message = redact(String(error), [spec.api_key])
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
