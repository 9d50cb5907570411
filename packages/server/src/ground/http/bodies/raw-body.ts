/** The body of a request for a route that reads it itself. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { parseJson } from './body.ts'
import { hasBody } from '../early-answer.ts'
import type { RawRequest } from '../route.ts'

/** The body as a stream. Destroying it keeps the connection, so that the caller still gets an early answer. */
export function openBodyStream(incoming: IncomingMessage): Readable {
  const body = new Readable({
    read: () => incoming.resume(),
    destroy(error, done) {
      incoming.off('data', take).resume()
      done(error)
    },
  })
  const take = (chunk: Buffer) => {
    if (!body.push(chunk)) incoming.pause()
  }
  const broken = (cause?: unknown) => {
    if (!incoming.readableEnded) body.destroy(new Error('the body broke off', { cause }))
  }
  // The caller may disconnect before the body is read; a later reader finds it destroyed.
  body.on('error', () => {})
  if (incoming.destroyed) broken()
  incoming
    .on('data', take)
    .once('end', () => body.push(null))
    .once('error', broken)
    .once('close', broken)
    .pause()
  return body
}

export function createRawRequest(
  { incoming, outgoing }: { incoming: IncomingMessage; outgoing: ServerResponse },
  textOf: (body: Readable) => Promise<string>,
): RawRequest {
  const { method = '', rawHeaders } = incoming
  const body = hasBody(incoming) ? openBodyStream(incoming) : null
  const text = () => textOf(body ?? Readable.from([]))
  return {
    method,
    headers: Array.from({ length: rawHeaders.length / 2 }, (_, i): [string, string] => [
      rawHeaders[2 * i] ?? '',
      rawHeaders[2 * i + 1] ?? '',
    ]),
    body,
    text,
    json: async () => parseJson(await text()),
    form: async () => new URLSearchParams(await text()),
    signal: leaving(outgoing),
  }
}

/** Aborts when the caller disconnects. Does not abort after a finished answer, because an abort creates an error. */
function leaving(outgoing: ServerResponse): AbortSignal {
  const gone = new AbortController()
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) gone.abort()
  })
  return gone.signal
}
