/** Answers of the gate itself: refusals, failures of the upstream, unreadable requests. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { GateRefusal, RefusalReason, GateTarget } from './outbound.ts'

export type GateAnswer = {
  status: number
  /** Shown in the `x-egress-error` header and in the body. */
  code: RefusalReason | 'upstream' | 'timeout' | 'invalid_request' | 'busy'
  message: string
  target?: GateTarget
}

const statusOf: Partial<Record<RefusalReason, number>> = { mismatch: 421, vault: 503 }

export const refusalAnswer = ({ host, port, reason, message }: GateRefusal): GateAnswer => ({
  status: statusOf[reason] ?? 403,
  code: reason,
  message,
  target: { host, port },
})

export const invalidAnswer = (message: string, status = 400): GateAnswer => ({
  status,
  code: 'invalid_request',
  message,
})

const timeouts = /TIMEDOUT|TIMEOUT/
const sentences: [RegExp, string][] = [
  [/^(ENOTFOUND|EAI_)/, 'its name could not be resolved'],
  [/^ECONNREFUSED/, 'it refused the connection'],
  [timeouts, 'it did not answer in time'],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)/, 'it closed the connection'],
  [/^(EHOSTUNREACH|ENETUNREACH)/, 'there is no way to it'],
  [/CERT|SIGNATURE|ISSUER|ALTNAME/, 'its certificate is not valid'],
  [/^(ERR_SSL|EPROTO)/, 'TLS with it failed'],
]

/** Shows only the code of an error, because a library's message may hold parts of a request. */
export function failureAnswer(target: GateTarget, error: unknown): GateAnswer {
  const code = codeOf(error) ?? codeOf(error instanceof Error ? error.cause : undefined)
  const why =
    sentences.find(([form]) => code && form.test(code))?.[1] ?? 'the exchange with it failed'
  const isLate = code !== undefined && timeouts.test(code)
  return {
    status: isLate ? 504 : 502,
    code: isLate ? 'timeout' : 'upstream',
    message: `${target.host}:${target.port} could not be asked: ${why}${code ? ` (${code})` : ''}`,
    target,
  }
}

function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' && /^[A-Z][A-Z\d_]{1,63}$/.test(error.code)
    ? error.code
    : undefined
}

const bodyOf = ({ code, message, target }: GateAnswer): string =>
  `${JSON.stringify({ error: { type: 'egress_error', code, message, ...target } })}\n`

/** The text of an answer to CONNECT. Many clients show only its reason phrase. */
function textOf(answer: GateAnswer): string {
  const body = bodyOf(answer)
  const phrase = answer.message.replace(/[^\x20-\x7e]/g, '?').slice(0, 200)
  return [
    `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}: ${phrase}`,
    'Content-Type: application/json',
    `X-Egress-Error: ${answer.code}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n')
}

const lingerMs = 1000
/** A parser reports another error for the bytes after an unreadable request. */
const lingering = new WeakSet<Socket>()

/** Sends the bytes, then reads and drops further input, so that a reset does not destroy them. */
export function endWithBytes(socket: Socket, bytes: string | Buffer): void {
  if (lingering.has(socket)) return
  if (!socket.writable) {
    socket.destroy()
    return
  }
  lingering.add(socket)
  const linger = setTimeout(() => socket.destroy(), lingerMs).unref()
  socket.once('close', () => clearTimeout(linger))
  socket.end(bytes)
  socket.resume()
}

export const endWithAnswer = (socket: Socket, answer: GateAnswer): void =>
  endWithBytes(socket, textOf(answer))

/**
 * Reads the rest of the request before answering: clients that send everything before they read would miss the answer.
 */
export function answerRequest(response: ServerResponse, answer: GateAnswer): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const { req } = response
  const body = bodyOf(answer)
  response.writeHead(answer.status, [
    'Content-Type',
    'application/json',
    'X-Egress-Error',
    answer.code,
    'Content-Length',
    String(Buffer.byteLength(body)),
  ])
  if (req.complete) {
    response.end(body)
    return
  }
  response.write(body)
  readRest(req, () => response.end())
}

/** Calls `done` when the request has ended, or when it has been silent for a while. */
function readRest(request: IncomingMessage, done: () => void): void {
  const patience = setTimeout(settle, lingerMs)
  function settle(): void {
    clearTimeout(patience)
    done()
  }
  request.on('data', () => patience.refresh())
  request.once('end', settle)
  request.once('close', settle)
  request.resume()
}
