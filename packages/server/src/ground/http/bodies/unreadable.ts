/** Answers to requests that reach no route, because nobody can read them. [errors/body] [http/answer/request-id] */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { RequestError } from '@hono/node-server'
import { invalid } from '../../core/errors.ts'
import { newId } from '../../core/text/ids.ts'
import { errorAnswer } from '../errors.ts'

type ParserError = Error & { code?: string; reason?: string }

function answerOf(error: unknown, status?: number) {
  const requestId = newId('request')
  const answer = errorAnswer(error, { dialect: 'interface', requestId })
  const text = JSON.stringify(answer.body)
  return {
    status: status ?? answer.status,
    text,
    headers: {
      ...answer.headers,
      'content-length': String(Buffer.byteLength(text)),
      'content-type': 'application/json',
      'request-id': requestId,
      connection: 'close',
    },
  }
}

function answerOfParser({ code, reason, message }: ParserError) {
  if (code === 'HPE_HEADER_OVERFLOW')
    return answerOf(invalid('the path and the headers are longer than 16 KiB'), 431)
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return answerOf(invalid('the request did not come in time'), 408)
  return answerOf(invalid(`this is no request of HTTP/1.1: ${reason ?? message}`))
}

/** True where an answer has begun, which another answer would corrupt. */
const isAnswering = (socket: Duplex & { _httpMessage?: ServerResponse | null }): boolean =>
  socket._httpMessage?.headersSent === true

function endUnreadable(error: ParserError, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable || isAnswering(socket))
    return void socket.destroy(error)
  const { status, text, headers } = answerOfParser(error)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`)
}

function refuseExpectation({ headers }: IncomingMessage, outgoing: ServerResponse): void {
  const error = invalid(`expect: ${headers.expect} is not offered; send 100-continue or nothing`)
  const answer = answerOf(error, 417)
  outgoing.writeHead(answer.status, answer.headers).end(answer.text)
}

/** For requests that Node's parser refuses. */
export function answerUnreadable(server: Server): void {
  server.on('clientError', endUnreadable)
  server.on('checkExpectation', refuseExpectation)
}

/** For requests whose address is none, and for errors outside of the routes. */
export function answerWithoutRoute(error: unknown): Response {
  const told =
    error instanceof RequestError
      ? invalid('the host and the path of the request give no address')
      : error
  const { status, text, headers } = answerOf(told)
  return new Response(text, { status, headers })
}
