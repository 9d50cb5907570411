/**
 * The connections of one session to its upstreams. Sessions never share a connection, so that bytes that one session
 * leaves on a connection cannot reach another session.
 */
import { Duplex, Readable, pipeline } from 'node:stream'
import type {
  OutboundAnswer,
  HeaderPairs,
  Outbound,
  UpgradedConnection,
} from '@steward/gate/outbound.ts'
import type { MaskFilter, Mask } from '@steward/mask/mask.ts'
import type { Dispatcher } from 'undici'
import { Agent } from '../../../ground/core/security/undici.ts'
import type { Connector, Namer } from '../../../ground/core/security/dial.ts'
import { RefusedAddressError } from '../../../ground/core/security/dial.ts'
import { refusalError, toGateTarget } from '../policy/rules.ts'
import { headersForUpstream, headerValue } from './headers.ts'
import {
  UnreadableEncoding,
  answerFilter,
  filterStream,
  maskedError,
  maskedHeaders,
} from './answer-filter.ts'

/** Time limit for the head of an answer. A body may pause while both ends keep the connection. */
const headersTimeoutMs = 600_000

/** A request whose body is a buffer when the body is already complete. */
export type UpstreamRequest = Omit<Outbound, 'body'> & { body: Readable | Buffer | null }

export type Upstream<Whose extends Namer = Namer> = ReturnType<typeof createUpstream<Whose>>

/** Connections by who names the endpoint: tenant and operator never share a connection. */
export type UpstreamPool = { readonly [Whose in Namer]: Upstream<Whose> }

/** `patienceMs`: limit for the head of an answer. `idleMs`: limit between two pieces of its body; 0 for none. */
export function createUpstream<Whose extends Namer>(
  connect: Connector<Whose>,
  { patienceMs = headersTimeoutMs, idleMs = 0 } = {},
) {
  const agent = new Agent({
    connect,
    allowH2: false,
    keepAliveTimeout: 30_000,
    headersTimeout: patienceMs,
    bodyTimeout: idleMs,
  })

  function dispatch(
    request: UpstreamRequest,
    mask: Mask | undefined,
    protocol: string | null,
  ): Promise<OutboundAnswer | UpgradedConnection> {
    const { method, url, signal } = request
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      const handler = new UpstreamExchange({ request, mask, resolve, reject })
      agent.dispatch(
        {
          origin: url.origin,
          path: url.pathname + url.search,
          method,
          headers: headersForUpstream(request.headers).flat(),
          body: request.body,
          upgrade: protocol,
        },
        handler,
      )
    })
  }

  return {
    whose: connect.whose,
    /**
     * Resolves with the head of the answer. Destroying the body early ends the upstream's body. Secrets of `mask` are
     * overwritten.
     */
    async send(request: UpstreamRequest, mask?: Mask): Promise<OutboundAnswer> {
      const answer = await dispatch(request, mask, null)
      if ('socket' in answer) throw new Error('the upstream switched protocols unasked')
      return answer
    },
    upgrade: (
      request: UpstreamRequest,
      protocol: string,
      mask?: Mask,
    ): Promise<OutboundAnswer | UpgradedConnection> => dispatch(request, mask, protocol),
    /** Ends every connection at once. */
    close: (): Promise<void> => agent.destroy(),
  }
}

type WaitingRequest = {
  request: UpstreamRequest
  mask: Mask | undefined
  resolve: (answer: OutboundAnswer | UpgradedConnection) => void
  reject: (error: unknown) => void
}

/** One request and its answer. */
class UpstreamExchange implements Dispatcher.DispatchHandler {
  readonly #waiting: WaitingRequest
  #controller: Dispatcher.DispatchController | undefined
  #body: Readable | undefined
  #filter: MaskFilter | undefined
  #isOver = false

  constructor(waiting: WaitingRequest) {
    this.#waiting = waiting
    waiting.request.signal.addEventListener('abort', this.#abort)
  }

  readonly #abort = (): void => {
    const { signal } = this.#waiting.request
    this.#controller?.abort(signal.reason as Error)
    this.#over(signal.reason)
  }

  #over(cause?: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#waiting.request.signal.removeEventListener('abort', this.#abort)
    if (cause === undefined) return
    const error = maskedError(cause, this.#waiting.mask)
    this.#waiting.reject(error)
    this.#body?.destroy(error instanceof Error ? error : new Error('aborted', { cause: error }))
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#isOver) controller.abort(new Error('the caller has gone'))
    this.#controller = controller
  }

  onRequestUpgrade(
    controller: Dispatcher.DispatchController,
    _status: number,
    _headers: unknown,
    socket: Duplex,
  ): void {
    const { mask, request, resolve } = this.#waiting
    const headers = maskedHeaders(rawHeaders(controller), mask)
    const extensions = headerValue(headers, 'sec-websocket-extensions')
    // Attack: the request offers no extension here, and an upstream that compresses all the same could not be masked.
    if (mask && extensions !== undefined) {
      socket.destroy()
      return this.#over(new UnreadableEncoding(extensions))
    }
    this.#over()
    request.signal.addEventListener('abort', () => socket.destroy(), { once: true })
    const shownSocket = mask ? masked(socket, mask) : socket
    resolve({ status: 101, headers, socket: mayBreak(shownSocket), head: nothing })
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    // Interim answers such as 103 are not passed on.
    if (status < 200) return
    const { request, mask, resolve } = this.#waiting
    try {
      const bodiless = request.method === 'HEAD' || status === 204 || status === 304
      const { headers, decode, filter } = answerFilter(rawHeaders(controller), mask, bodiless)
      const body = this.#bodyFrom(controller)
      this.#body = body
      if (!decode) this.#filter = filter
      const all = decode && filter ? [body, decode, filterStream(filter)] : undefined
      resolve({ status, headers, body: mayBreak(all ? joined(all) : body) })
    } catch (error) {
      controller.abort(error as Error)
      this.#over(error)
    }
  }

  #bodyFrom(controller: Dispatcher.DispatchController): Readable {
    return new Readable({
      highWaterMark: 128 * 1024,
      read: () => controller.resume(),
      destroy: (error, done) => {
        if (!this.#isOver) {
          this.#over()
          controller.abort(error ?? new Error('the answer was not read to its end'))
        }
        done(error)
      },
    })
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const bytes = this.#filter ? this.#filter.write(chunk) : chunk
    if (bytes.length > 0 && this.#body?.push(bytes) === false) controller.pause()
  }

  onResponseEnd(): void {
    const rest = this.#filter?.end()
    this.#over()
    if (rest && rest.length > 0) this.#body?.push(rest)
    this.#body?.push(null)
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#over(refusalOf(error, this.#waiting.request.url))
  }
}

const nothing = Buffer.alloc(0)

/**
 * Ignores errors until somebody reads the stream: the audit row is written first, and some answers are never read. A
 * later reader finds the stream destroyed.
 */
function mayBreak<T extends Readable>(stream: T): T {
  return stream.on('error', () => {})
}

function rawHeaders({ rawHeaders: raw }: Dispatcher.DispatchController): HeaderPairs {
  if (!Array.isArray(raw)) return []
  const texts = raw.map((part: Buffer | string) =>
    typeof part === 'string' ? part : part.toString('latin1'),
  )
  return Array.from({ length: texts.length / 2 }, (_, i): [string, string] => [
    texts[2 * i] ?? '',
    texts[2 * i + 1] ?? '',
  ])
}

/** Pipes the streams together and returns the last. They all end together. */
function joined(streams: Readable[]): Readable {
  const last = streams.at(-1)
  if (!last) throw new Error('nothing to join')
  // The reader of the last stream gets the error.
  pipeline(streams as [Readable, ...Duplex[]], () => {})
  return last
}

/** Masks what the upstream sends; bytes to the upstream stay unchanged. */
function masked(socket: Duplex, mask: Mask): Duplex {
  const reading = joined([socket, filterStream(mask.filter())])
  return Duplex.from({ readable: reading, writable: socket })
}

/** A dial that the guard refused becomes a refusal; any other error is a failure of the upstream. */
function refusalOf(error: Error, url: URL): Error {
  const found = [error, ...(error instanceof AggregateError ? error.errors : []), error.cause].find(
    (each) => each instanceof RefusedAddressError,
  )
  return found ? refusalError(toGateTarget(url), 'private_address', found.message) : error
}
