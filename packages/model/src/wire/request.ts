import type { ModelCall, ModelEvent, ModelFailure } from '../model.ts'
import { clampEffort } from '../effort.ts'
import type { ModelSpec, ModelWire } from '../spec.ts'
import { withoutAmbient } from './ambient-variables.ts'
import { documentSet } from './documents.ts'
import { toModelFailure, redactSecrets, modelSecrets } from './failure.ts'
import { groupFitter } from './fit/fit.ts'
import { libraryMessages, libraryTools } from './messages.ts'
import { RefusedAnswer } from './bounded-answer.ts'
import { boundToolCalls } from './tool-calls.ts'
import {
  type HttpObservation,
  observedFetch,
  type ProcessFetch,
  withFetch,
} from './observed-fetch.ts'
import { finishPayload } from './payload.ts'
import { inputOf, libraryModel } from './pi-model.ts'
import type { AssistantMessage, AssistantMessageEvent, WireLibrary } from './pi.ts'
import { type RefusedPart, findRefusedPart } from './refused-part.ts'
import { sendableMessages } from './sendable.ts'
import { createSequence } from './sequence.ts'

type RequestEnd =
  | { type: 'end'; stop: Extract<ModelEvent, { type: 'end' }>['stop'] }
  | { type: 'failed'; failure: ModelFailure }

export type EventReader = {
  emit: (event: ModelEvent) => void
  /** The partial message, at every event. */
  saw: (partial: AssistantMessage) => void
  /** The endpoint has sent something whole, if only a comment. */
  alive: () => void
  /** Resolves when the reader can take more. */
  room: () => Promise<void>
}

/** The most events handled without a break of the event loop: one event of an endpoint can cause a hundred thousand. */
const eventsAtOnce = 500
const nextRound = () => new Promise<void>((resolve) => setImmediate(resolve))

export const abortedFailure: ModelFailure = {
  kind: 'aborted',
  retryable: false,
  message: 'The call was aborted',
}

/**
 * Sends the call and reads its answer to the end. Asks once more without the part that the provider refused, if it named
 * one and refuses nothing else.
 */
export async function requestAnswer(
  ...about: Parameters<typeof requestOnce>
): ReturnType<typeof requestOnce> {
  const first = await requestOnce(...about)
  const refused = first.type === 'failed' ? findRefusedPart(first.failure) : undefined
  if (refused === undefined) return first
  const [library, wire, spec, call, signal, reader] = about
  const second = await requestOnce(library, wire, spec, call, signal, reader, refused)
  const isRefused = second.type === 'failed' && second.failure.kind === 'request_failed'
  return isRefused && !second.failure.retryable ? first : second
}

/** `refused`: a part that is left out. */
async function requestOnce(
  library: WireLibrary,
  wire: ModelWire,
  spec: ModelSpec,
  call: ModelCall,
  signal: AbortSignal,
  reader: EventReader,
  refused?: RefusedPart,
): Promise<RequestEnd> {
  const seen: HttpObservation = { sent: false }
  /** True while everything that the library has read is taken from it. */
  let isIdle = false
  async function ready(): Promise<void> {
    do await nextRound()
    while (!isIdle && !signal.aborted)
    await reader.room()
    // The endpoint was not silent: nobody read.
    reader.alive()
  }
  const passage = { fit: groupFitter(wire), ready, alive: reader.alive }
  const fetch = observedFetch(seen, passage, library.transport)
  const events = send(library, wire, spec, call, signal, fetch, refused)
  const iterator = events[Symbol.asyncIterator]()
  const ordered = createSequence(wire === 'openai-completions', reader.emit)
  for (let read = 1; ; read++) {
    if (read % eventsAtOnce === 0) await nextRound()
    isIdle = true
    const next = await iterator.next()
    isIdle = false
    // What was read before the abort is not taken apart.
    if (signal.aborted) return { type: 'failed', failure: abortedFailure }
    if (next.done === true) throw new Error('The library ended its stream without a last event')
    const event = next.value
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
}

function send(
  library: WireLibrary,
  wire: ModelWire,
  spec: ModelSpec,
  call: ModelCall,
  signal: AbortSignal,
  fetch: ProcessFetch,
  refused: RefusedPart | undefined,
): AsyncIterable<AssistantMessageEvent> {
  const model = libraryModel(wire, spec)
  const documents = documentSet(inputOf(spec).includes('document'))
  const toolNames = new Set(call.tools.map(({ name }) => name))
  const messages = sendableMessages(call.messages, wire, toolNames)
  const context = library.normalizeContext({
    systemPrompt: call.system,
    messages: libraryMessages(messages, model, documents),
    tools: libraryTools(call.tools),
  })
  const { answerSchema } = call
  const effort = spec.effort && clampEffort(spec.native_config ?? {}, spec.effort)
  const stream = () =>
    library.streams.streamSimple(model, context, {
      apiKey: spec.api_key,
      signal,
      headers: { ...model.headers, ...(call.traceparent && { traceparent: call.traceparent }) },
      cacheRetention: 'short',
      maxRetries: 0,
      // The client's own limit on a silent start is shorter than some settings.
      ...(spec.idleTimeoutMs !== undefined && { timeoutMs: spec.idleTimeoutMs + 1_000 }),
      onPayload: finishPayload(wire, spec, call.tools, documents, { refused, answerSchema }),
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
  const secrets = modelSecrets(spec)
  if (seen.cause instanceof RefusedAnswer) {
    const { mayPass } = seen.cause
    const kind = mayPass ? 'unreachable' : 'request_failed'
    const message = redactSecrets(seen.cause.message, secrets)
    return { type: 'failed', failure: { kind, retryable: mayPass, message } }
  }
  const message = error.errorMessage ?? 'The provider failed without a reason'
  const errorMessage = message.slice(0, mostExamined)
  const overflow = library.isContextOverflow({ ...error, errorMessage, stopReason: 'error' })
  return { type: 'failed', failure: toModelFailure({ ...seen, message, overflow }, secrets) }
}
