/** Amazon's binary event stream as server-sent events of the Messages wire. */
import type { EventStreamCodec } from '@smithy/core/event-streams'
import { answerLimits, RefusedAnswer } from '../wire/bounded-answer.ts'
import { parsedRecord } from './json.ts'

export const eventStreamType = 'application/vnd.amazon.eventstream'

/** Attack: a frame says its length before it comes. The bytes of an event stand in Base64 within JSON. */
const mostFrameBytes = 2 * answerLimits.eventBytes
const preludeBytes = 12

/** The words of the Messages wire for exceptions within a stream. */
const errorTypes: Record<string, string> = {
  throttlingException: 'rate_limit_error',
  serviceUnavailableException: 'overloaded_error',
  modelTimeoutException: 'overloaded_error',
  validationException: 'invalid_request_error',
}

export async function eventStreamDecoder(): Promise<TransformStream<Uint8Array, Uint8Array>> {
  const { EventStreamCodec } = await import('@smithy/core/event-streams')
  const encoder = new TextEncoder()
  const codec = new EventStreamCodec(
    (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString()),
    (text) => encoder.encode(text),
  )
  let held: Uint8Array = new Uint8Array(0)
  return new TransformStream({
    transform(chunk, controller) {
      held = held.length === 0 ? chunk : Buffer.concat([held, chunk])
      for (let length = frameLength(held); length !== undefined; length = frameLength(held)) {
        const event = eventOf(codec, held.subarray(0, length))
        held = held.subarray(length)
        if (event !== undefined) controller.enqueue(encoder.encode(event))
      }
    },
    flush() {
      if (held.length > 0) throw new Error('The answer broke off in the midst of a frame')
    },
  })
}

/** Undefined while the first frame is not there as a whole. */
function frameLength(held: Uint8Array): number | undefined {
  if (held.length < preludeBytes) return undefined
  const length = new DataView(held.buffer, held.byteOffset).getUint32(0)
  if (length > mostFrameBytes || length < preludeBytes + 4)
    throw new RefusedAnswer(`The endpoint sent a frame of ${length} bytes`)
  return held.length < length ? undefined : length
}

function eventOf(codec: EventStreamCodec, frame: Uint8Array): string | undefined {
  const { headers, body } = codec.decode(frame)
  const said = parsedRecord(Buffer.from(body).toString())
  const header = (name: string): string | undefined => {
    const value = headers[name]?.value
    return typeof value === 'string' ? value : undefined
  }
  const kind = header(':message-type') ?? 'event'
  if (kind !== 'event') {
    const exception = header(':exception-type') ?? header(':error-code') ?? kind
    const message = said?.message ?? said?.Message ?? header(':error-message') ?? exception
    const error = { type: errorTypes[exception] ?? 'api_error', message }
    return `event: error\ndata: ${JSON.stringify({ type: 'error', error })}\n\n`
  }
  if (typeof said?.bytes !== 'string') return undefined
  const event = parsedRecord(Buffer.from(said.bytes, 'base64').toString())
  if (event === undefined) throw new RefusedAnswer('The endpoint sent an event that is no JSON')
  const name = typeof event.type === 'string' ? `event: ${event.type}\n` : ''
  return `${name}data: ${JSON.stringify(event)}\n\n`
}
