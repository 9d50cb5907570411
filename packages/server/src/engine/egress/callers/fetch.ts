/** The platform's `fetch` over `forward`. Bodies stream both ways. No redirect is followed. */
import { Readable } from 'node:stream'
import type { ReadableStream as NodeStream } from 'node:stream/web'
import type { OutboundAnswer, HeaderPairs } from '@steward/gate/outbound.ts'
import type { UpstreamRequest } from '../inject/upstream.ts'

/** Like the platform's `fetch`, but rejects with `RequestRefused` for a call that was not sent. */
export type OutboundFetch = (url: string | URL, init?: RequestInit) => Promise<Response>

const methods = /^(delete|get|head|options|post|put)$/i
/** Statuses whose answers have no body. */
const bodiless = new Set([204, 205, 304])

export function fetchOver(
  send: (request: UpstreamRequest) => Promise<OutboundAnswer>,
): OutboundFetch {
  return async (url, init = {}) => {
    const target = new URL(url)
    if (target.protocol !== 'https:' && target.protocol !== 'http:') {
      throw new TypeError(`only http and https are fetched, not ${target.protocol}`)
    }
    target.hash = ''
    const { method: given = 'GET', signal } = init
    const method = methods.test(given) ? given.toUpperCase() : given
    const { body, headers } = await outgoing(target, init)
    const answer = await send({
      method,
      url: target,
      headers,
      body,
      signal: signal ?? new AbortController().signal,
    })
    return responseOf(answer, { url: target.href, hasBody: method !== 'HEAD' })
  }
}

/** Builds the platform's `Request`, which knows every kind of body and its headers. */
async function outgoing(
  url: URL,
  init: RequestInit,
): Promise<{ headers: HeaderPairs; body: UpstreamRequest['body'] }> {
  const { body } = init
  const bytes = typeof body === 'string' ? Buffer.from(body) : undefined
  const isPlain = body === undefined || body === null || bytes !== undefined
  if (isPlain) {
    const headers: HeaderPairs = [...new globalThis.Headers(init.headers)]
    if (bytes && !headers.some(([name]) => name === 'content-type')) {
      headers.push(['content-type', 'text/plain;charset=UTF-8'])
    }
    if (bytes) headers.push(['content-length', String(bytes.length)])
    return { headers, body: bytes ?? null }
  }
  const { signal: _, ...rest } = init
  const request = new Request(url, { ...rest, ...({ duplex: 'half' } as object) })
  const stream = request.body
  return {
    headers: [...request.headers],
    body: stream && Readable.fromWeb(stream as NodeStream<Uint8Array>),
  }
}

function responseOf(
  { status, headers, body }: OutboundAnswer,
  { url, hasBody }: { url: string; hasBody: boolean },
): Response {
  const isEmpty = !hasBody || bodiless.has(status)
  if (isEmpty) body.resume()
  const stream = isEmpty ? null : streamOf(body)
  try {
    const response = new Response(stream, { status, headers })
    return Object.defineProperty(response, 'url', { value: url })
  } catch (error) {
    // The platform's `Response` throws for a status that it does not know.
    body.destroy()
    throw error
  }
}

/** Lighter than the platform's own adapter, with the same backpressure. */
function streamOf(body: Readable): ReadableStream<Uint8Array> {
  let isOver = false
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        body.on('data', (chunk: Buffer) => {
          // A destroyed body still gives what it had read.
          if (isOver) return
          controller.enqueue(chunk)
          if ((controller.desiredSize ?? 0) <= 0) body.pause()
        })
        body.once('end', () => {
          if (isOver) return
          isOver = true
          controller.close()
        })
        body.once('error', (error) => {
          isOver = true
          controller.error(error)
        })
        body.once('close', () => {
          if (!isOver) controller.error(new Error('the body broke off'))
        })
        body.pause()
      },
      pull() {
        body.resume()
      },
      cancel() {
        isOver = true
        body.destroy()
      },
    },
    { highWaterMark: 0 },
  )
}
