/**
 * The fetch that the MCP library gets for one server. Messages are bounded before the library parses them, and a stream
 * that breaks off causes an error.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { z } from 'zod'
import type { GuardedFetch } from '../egress.ts'
import { eventLines } from './event-lines.ts'
import { MessageRefused, messageCheck } from './message-check.ts'

const notificationMs = 10_000

/** The signal of the call whose request is being sent. The library keeps a request open after its call has ended. */
export const callScope = new AsyncLocalStorage<AbortSignal>()

const SentMessage = z.object({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
})
type SentMessage = z.infer<typeof SentMessage>

export function wireFetch(fetch: GuardedFetch): GuardedFetch {
  return async (url, init) => {
    const sent = messageOf(init?.body)
    const scope = scopeOf(sent)
    const signals = [init?.signal, scope].filter(
      (signal) => signal !== undefined && signal !== null,
    )
    const response = await fetch(url, {
      ...init,
      redirect: 'manual',
      ...(signals.length > 0 ? { signal: AbortSignal.any(signals) } : {}),
    })
    const { body, status, statusText, headers } = response
    if (!body) return response
    const isStream = headers.get('content-type')?.toLowerCase().startsWith('text/event-stream')
    const pieces = isStream ? streamed(body, sent?.id) : whole(body)
    return new Response(ReadableStream.from(pieces), { status, statusText, headers })
  }
}

function messageOf(body: unknown): SentMessage | undefined {
  return typeof body === 'string' ? SentMessage.parse(JSON.parse(body)) : undefined
}

function scopeOf(sent: SentMessage | undefined): AbortSignal | undefined {
  if (!sent) return undefined
  if (sent.id === undefined) return AbortSignal.timeout(notificationMs)
  return sent.method === 'tools/call' ? callScope.getStore() : undefined
}

async function* whole(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const check = messageCheck()
  for await (const piece of body) {
    check(piece)
    yield piece
  }
}

/**
 * Answers a request whose stream ended without an answer with an error; the library would wait for its time limit. A
 * request that was answered, or whose stream can be resumed, is left to the library.
 */
async function* streamed(
  body: AsyncIterable<Uint8Array>,
  request: string | number | undefined,
): AsyncGenerator<Uint8Array> {
  const lines = eventLines(messageCheck)
  let isResumable = false
  let why = 'the connection ended before the answer'
  try {
    for await (const piece of body) {
      yield lines.read(piece)
      isResumable = lines.hasIds()
    }
  } catch (error) {
    const isRefused = error instanceof MessageRefused
    if (!isRefused && (request === undefined || isResumable)) throw error
    if (isRefused) [why, isResumable] = [error.message, false]
  }
  if (request === undefined || isResumable) return
  const answer = { jsonrpc: '2.0', id: request, error: { code: breakOff, message: why } }
  yield Buffer.from(`\n\nevent: message\ndata: ${JSON.stringify(answer)}\n\n`)
}

/** JSON-RPC code of the error for an answer that did not come. */
export const breakOff = -32_099
