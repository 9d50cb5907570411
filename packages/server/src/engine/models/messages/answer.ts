/** The answer to a request, in the words of the official client: whole, or as its events. */
import type { ModelFailure, Usage } from '@steward/model/model.ts'
import { PlatformError, RateLimitError } from '../../../ground/core/errors.ts'

export type MessageEvent = { type: string } & Record<string, unknown>

export const eventFrame = (event: MessageEvent): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`

const said = (type: string, message: string, kind: PlatformError['kind']) =>
  new PlatformError(kind, message, { error_type: type })

/** Seconds until a caller comes again where the provider names no time. */
const againSeconds = 5

/** Errors by what has failed, with the sentence before the provider's words. */
const errors = {
  overloaded: ['overloaded_error', 'unavailable', 'the model is overloaded: '],
  billing: ['billing_error', 'forbidden', ''],
  authentication: [
    'api_error',
    'bad_gateway',
    'the provider refuses the key of the model, and not yours: ',
  ],
  context_overflow: ['invalid_request_error', 'invalid_request', ''],
  unreachable: ['api_error', 'bad_gateway', ''],
  refused_address: ['api_error', 'bad_gateway', ''],
  aborted: ['api_error', 'bad_gateway', ''],
} as const satisfies Partial<
  Record<ModelFailure['kind'], readonly [string, PlatformError['kind'], string]>
>

/** The error for the caller of a failed request, which the official client repeats where that may help. */
export function messageError(failure: ModelFailure): PlatformError {
  const { kind, message, retryAfterMs = againSeconds * 1_000 } = failure
  if (kind === 'rate_limited')
    return new RateLimitError(
      `the provider of the model limits its requests: ${message}`,
      Math.ceil(retryAfterMs / 1_000),
    )
  if (kind === 'request_failed') return refusedError(failure)
  const [type, answered, before] = errors[kind]
  return said(type, `${before}${message}`, answered)
}

function refusedError({ message, status = 500, retryable }: ModelFailure): PlatformError {
  if (retryable || status >= 500) return said('api_error', message, 'bad_gateway')
  if (status === 404) return said('not_found_error', message, 'not_found')
  if (status === 413) return said('request_too_large', message, 'too_large')
  return said('invalid_request_error', message, 'invalid_request')
}

/** The last event of a stream that fails after it has begun. */
export function errorEvent(error: PlatformError): MessageEvent {
  const type = error.details?.['error_type']
  const other = error.kind === 'rate_limited' ? 'rate_limit_error' : 'api_error'
  return {
    type: 'error',
    error: { type: typeof type === 'string' ? type : other, message: error.message },
  }
}

export const shownUsage = (usage: Usage) => ({
  input_tokens: usage.input_tokens,
  cache_creation_input_tokens: usage.cache_creation_input_tokens,
  cache_read_input_tokens: usage.cache_read_input_tokens,
  output_tokens: usage.output_tokens,
})
