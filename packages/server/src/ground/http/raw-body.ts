/** The body of a request whose route reads it itself. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { parseJson } from './body.ts'
import { hasBody } from './early-answer.ts'
import type { RawRequest } from './route.ts'

/** Given up, it leaves the connection as it is, so that an answer that came early is still read. */
export function bodyOf(incoming: IncomingMessage): Readable {
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
  // Its caller may leave before anybody reads it: whoever comes to read finds it destroyed.
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

export function rawOf(
  { incoming, outgoing }: { incoming: IncomingMessage; outgoing: ServerResponse },
  textOf: (body: Readable) => Promise<string>,
): RawRequest {
  const { method = '', rawHeaders } = incoming
  const body = hasBody(incoming) ? bodyOf(incoming) : null
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

/** An abort makes an error, with its stack: none is made when all went well. */
function leaving(outgoing: ServerResponse): AbortSignal {
  const gone = new AbortController()
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) gone.abort()
  })
  return gone.signal
}
