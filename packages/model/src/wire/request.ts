import type { ModelCall, ModelEvent, ModelFailure } from '../model.ts'
import { clampEffort } from '../effort.ts'
import type { ModelSpec, ModelWire } from '../spec.ts'
import { withoutAmbient } from './ambient-variables.ts'
import { documentSet } from './documents.ts'
import { failureOf, redact, secretsOf } from './failure.ts'
import { libraryMessages, libraryTools } from './messages.ts'
import { RefusedAnswer } from './bounded-answer.ts'
import { boundToolCalls } from './tool-calls.ts'
import { observedFetch, type HttpObservation, withFetch } from './observed-fetch.ts'
import { finishPayload } from './payload.ts'
import { inputOf, libraryModel } from './pi-model.ts'
import type { AssistantMessage, AssistantMessageEvent, WireLibrary } from './pi.ts'
import { createSequence } from './sequence.ts'

type RequestEnd =
  | { type: 'end'; stop: Extract<ModelEvent, { type: 'end' }>['stop'] }
  | { type: 'failed'; failure: ModelFailure }

export type EventReader = {
  emit: (event: ModelEvent) => void
  /** The partial message, at every event. */
  saw: (partial: AssistantMessage) => void
}

/** The most events handled without a break of the event loop: one event of an endpoint can cause a hundred thousand. */
const eventsAtOnce = 500
const nextRound = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Sends the call and reads its answer to the end. */
export async function requestAnswer(
  library: WireLibrary,
  wire: ModelWire,
  spec: ModelSpec,
  call: ModelCall,
  signal: AbortSignal,
  reader: EventReader,
): Promise<RequestEnd> {
  const seen: HttpObservation = { sent: false }
  const events = send(library, wire, spec, call, signal, seen)
  const ordered = createSequence(
    wire === 'openai-completions',
    library.parseStreamingJson,
    reader.emit,
  )
  let read = 0
  for await (const event of events) {
    if (++read % eventsAtOnce === 0) await nextRound()
    if (event.type === 'done') {
      reader.saw(event.message)
      ordered.close(event.message)
      return ended(library, event.message, spec)
    }
    if (event.type === 'error') {
      reader.saw(event.error)
      if (!refusals.has(event.error.rawStopReason ?? '')) {
        return failed(library, spec, event.error, seen)
      }
      ordered.close(event.error)
      return { type: 'end', stop: 'refusal' }
    }
    if (event.type === 'start') boundToolCalls(event.partial, (error) => (seen.cause = error))
    reader.saw(event.partial)
    ordered.take(event)
  }
  throw new Error('The library ended its stream without a last event')
}

function send(
  library: WireLibrary,
  wire: ModelWire,
  spec: ModelSpec,
  call: ModelCall,
  signal: AbortSignal,
  seen: HttpObservation,
): AsyncIterable<AssistantMessageEvent> {
  const model = libraryModel(wire, spec)
  const documents = documentSet(inputOf(spec).includes('document'))
  const context = library.normalizeContext({
    systemPrompt: call.system,
    messages: libraryMessages(call.messages, model, documents),
    tools: libraryTools(call.tools),
  })
  const effort = spec.effort && clampEffort(spec.native_config ?? {}, spec.effort)
  const fetch = observedFetch(seen)
  const stream = () =>
    library.streams.streamSimple(model, context, {
      apiKey: spec.api_key,
      signal,
      headers: { ...model.headers, ...(call.traceparent && { traceparent: call.traceparent }) },
      cacheRetention: 'short',
      maxRetries: 0,
      onPayload: finishPayload(wire, spec, call.tools, documents),
      ...(wire !== 'google-generative-ai' && { fetch }),
      ...(call.cacheKey !== undefined && { sessionId: call.cacheKey }),
      ...(call.maxTokens !== undefined && { maxTokens: call.maxTokens }),
      ...(effort !== undefined && { reasoning: effort }),
    })
  return withoutAmbient(() =>
    wire === 'google-generative-ai' ? withFetch(fetch, stream) : stream(),
  )
}

function ended(library: WireLibrary, message: AssistantMessage, spec: ModelSpec): RequestEnd {
  if (
    message.stopReason === 'length' &&
    library.isContextOverflow(message, spec.native_config?.contextWindow)
  ) {
    const text = 'The conversation fills the context window and leaves no room for an answer'
    return {
      type: 'failed',
      failure: { kind: 'context_overflow', retryable: false, message: text },
    }
  }
  const called = message.content.some((block) => block.type === 'toolCall')
  if (message.stopReason === 'length') return { type: 'end', stop: 'max_tokens' }
  return { type: 'end', stop: called ? 'tool_use' : 'end_turn' }
}

const refusals = new Set(
  `refusal sensitive content_filter incomplete.content_filter SAFETY PROHIBITED_CONTENT BLOCKLIST SPII RECITATION
  IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION`.split(/\s+/),
)

/**
 * Characters of an error that the library examines. Attack: its expressions take time in the square of the length, and
 * an endpoint can send an error of two megabytes.
 */
const mostExamined = 16 * 1024

function failed(
  library: WireLibrary,
  spec: ModelSpec,
  error: AssistantMessage,
  seen: HttpObservation,
): RequestEnd {
  const secrets = secretsOf(spec)
  if (seen.cause instanceof RefusedAnswer) {
    const { mayPass } = seen.cause
    const kind = mayPass ? 'unreachable' : 'request_failed'
    const message = redact(seen.cause.message, secrets)
    return { type: 'failed', failure: { kind, retryable: mayPass, message } }
  }
  const message = error.errorMessage ?? 'The provider failed without a reason'
  const errorMessage = message.slice(0, mostExamined)
  const overflow = library.isContextOverflow({ ...error, errorMessage, stopReason: 'error' })
  return { type: 'failed', failure: failureOf({ ...seen, message, overflow }, secrets) }
}
