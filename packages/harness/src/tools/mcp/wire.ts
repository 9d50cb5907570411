/**
 * The fetch that the MCP library gets for one server. Messages are bounded and fitted before the library parses them,
 * and a request whose answer has ended without one gets an error.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { z } from 'zod'
import type { GuardedFetch } from '../egress.ts'
import { eventLines } from './event-lines.ts'
import type { ExpectedAnswer, RequestId } from './fit-message.ts'
import { breakOffAnswer, fitMessage, isAnswerMessage, isObject, isSameId } from './fit-message.ts'
import { MessageRefused, messageCheck } from './message-check.ts'

const notificationMs = 10_000
const mostFailedResumes = 2
/** Attack: a server can ask without an end, and each reply is a request of ours. More of them in a second are left out. */
const mostReplies = 16
/** Bytes of a stream that answers one request, with the notices and comments in it. */
const mostStreamBytes = 64 * 1024 * 1024
const endedEarly = 'the connection ended before the answer'

/** The signal of the call whose request is being sent. The library keeps a request open after its call has ended. */
export const callScope = new AsyncLocalStorage<AbortSignal>()

const SentMessage = z.object({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
})
type SentMessage = z.infer<typeof SentMessage>

/** What the server asked for is answered by a message without a method. */
const isReply = (sent: SentMessage | undefined): boolean =>
  sent !== undefined && sent.method === undefined

/** A request whose stream ended without an answer, and can be resumed. */
type Resumable = { request: RequestId; failures: number }
type SendRequest = () => Promise<Response>

/** `answersPosts`: false for the older transport, which answers on a stream of its own. */
export function wireFetch(fetch: GuardedFetch, answersPosts: boolean): GuardedFetch {
  /** By the last event that came. */
  const resumable = new Map<string, Resumable>()
  let handshake: RequestId | undefined
  const mayReply = atMost(mostReplies, 1_000)

  /** Passes on what comes. The second failed attempt to resume a stream is the end of its request. */
  async function resume(from: string, { request, failures }: Resumable, send: SendRequest) {
    const isLast = failures + 1 >= mostFailedResumes
    if (isLast) resumable.delete(from)
    else resumable.set(from, { request, failures: failures + 1 })
    const end = eventStream(ended(request, endedEarly))
    try {
      const response = await send()
      if (response.ok && isEventStream(response)) {
        resumable.delete(from)
        return response
      }
      await response.body?.cancel()
      return !isLast && response.status >= 500 ? response : end
    } catch (error) {
      if (!isLast) throw error
      return end
    }
  }

  function bounded(response: Response, expected: ExpectedAnswer): Response {
    const { body, status, statusText, headers } = response
    const { request } = expected
    if (status === 202 && request !== undefined) return acceptedOnly(response, request)
    if (!body) return response
    let pieces = whole(body)
    if (isEventStream(response))
      pieces = streamed(body, expected, (lastId) => {
        if (request !== undefined) resumable.set(lastId, { request, failures: 0 })
      })
    else if (response.ok && request !== undefined && isJson(response))
      pieces = fitted(body, { ...expected, request })
    return new Response(ReadableStream.from(pieces), { status, statusText, headers })
  }

  return async (url, init) => {
    const sent = messageOf(init?.body)
    if (sent?.method === 'initialize') handshake = sent.id
    if (isReply(sent) && !mayReply()) return new Response(null, { status: 202 })
    const send = () => fetch(url, boundInit(init, scopeOf(sent)))
    const from = new Headers(init?.headers).get('last-event-id') ?? ''
    const wait = sent ? undefined : resumable.get(from)
    const response = wait ? await resume(from, wait, send) : await send()
    const request = isReply(sent) ? undefined : (sent?.id ?? wait?.request)
    return bounded(response, { request: answersPosts ? request : undefined, handshake })
  }
}

/** Returns a function that is true at most `most` times within `ms`. */
function atMost(most: number, ms: number): () => boolean {
  let recent: number[] = []
  return () => {
    const now = performance.now()
    recent = recent.filter((at) => at > now - ms)
    if (recent.length >= most) return false
    recent.push(now)
    return true
  }
}

function acceptedOnly({ body }: Response, request: RequestId): Response {
  void body?.cancel().catch(() => undefined)
  const why = 'it accepted the request and gave no answer to it (202)'
  return Response.json(breakOffAnswer(request, why))
}

const typeOf = ({ headers }: Response): string => headers.get('content-type')?.toLowerCase() ?? ''
const isEventStream = (response: Response): boolean =>
  typeOf(response).startsWith('text/event-stream')
const isJson = (response: Response): boolean => typeOf(response).startsWith('application/json')

const eventStream = (text: string): Response =>
  new Response(text, { headers: { 'content-type': 'text/event-stream' } })

function messageOf(body: unknown): SentMessage | undefined {
  return typeof body === 'string' ? SentMessage.parse(JSON.parse(body)) : undefined
}

function scopeOf(sent: SentMessage | undefined): AbortSignal | undefined {
  if (!sent) return undefined
  if (sent.id === undefined || isReply(sent)) return AbortSignal.timeout(notificationMs)
  return sent.method === 'tools/call' ? callScope.getStore() : undefined
}

function boundInit(init: RequestInit | undefined, scope: AbortSignal | undefined): RequestInit {
  const signals = [init?.signal, scope].filter((each) => each !== undefined && each !== null)
  const signal = signals.length > 0 ? { signal: AbortSignal.any(signals) } : {}
  return { ...init, redirect: 'manual', ...signal }
}

async function* whole(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const check = messageCheck()
  for await (const piece of body) {
    check(piece)
    yield piece
  }
}

/** One body is the answer to one request: what answers others is left out, and what is missing is an error. */
async function* fitted(
  body: AsyncIterable<Uint8Array>,
  expected: ExpectedAnswer & { request: RequestId },
): AsyncGenerator<Uint8Array> {
  const pieces: Uint8Array[] = []
  for await (const piece of whole(body)) pieces.push(piece)
  const given = parsed(Buffer.concat(pieces).toString('utf8'))
  const own = (Array.isArray(given) ? given : [given])
    .map((each) => fitMessage(each, expected))
    .filter(isObject)
    .filter((each) => !isAnswerMessage(each) || isSameId(each['id'], expected.request))
  if (!own.some(isAnswerMessage)) {
    const why =
      given === undefined ? 'the answer is no JSON' : 'the answer was to another request than this'
    own.push(breakOffAnswer(expected.request, why))
  }
  const [only] = own
  yield Buffer.from(JSON.stringify(own.length === 1 ? only : own))
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/**
 * Answers a request whose stream ended without an answer with an error; the library would wait for its time limit. A
 * stream that can be resumed is left to the library.
 */
async function* streamed(
  body: AsyncIterable<Uint8Array>,
  expected: ExpectedAnswer,
  canResume: (lastId: string) => void,
): AsyncGenerator<Uint8Array> {
  const { request } = expected
  let isAnswered = false
  const lines = eventLines(messageCheck, (data) => {
    const message = parsed(data)
    const fit = fitMessage(message, expected)
    isAnswered ||= isAnswerMessage(fit) && isSameId(fit['id'], request)
    return fit === message ? data : JSON.stringify(fit)
  })
  let why = endedEarly
  let isRefused = false
  try {
    let bytes = 0
    for await (const piece of body) {
      bytes += piece.length
      if (request !== undefined && bytes > mostStreamBytes)
        throw new MessageRefused(`the stream of the answer is larger than ${mostStreamBytes} bytes`)
      yield lines.read(piece)
    }
    yield lines.end()
  } catch (error) {
    isRefused = error instanceof MessageRefused
    if (isRefused) why = (error as Error).message
    else if (request === undefined || isAnswered) throw error
    else if (lines.lastId() !== undefined) {
      canResume(lines.lastId() ?? '')
      throw error
    }
  }
  if (request === undefined || isAnswered) return
  const lastId = isRefused ? undefined : lines.lastId()
  if (lastId === undefined) yield Buffer.from(ended(request, why))
  else canResume(lastId)
}

const ended = (request: RequestId, why: string): string =>
  `\n\nevent: message\ndata: ${JSON.stringify(breakOffAnswer(request, why))}\n\n`
