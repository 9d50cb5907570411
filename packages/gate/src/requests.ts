/** Passes requests that the gate can read to its owner, and the answers back. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { sendAnswer } from './answers.ts'
import type { OpenedTunnel } from './heads.ts'
import { readRequest } from './heads.ts'
import type { ObjectionReporter } from './objections.ts'
import type { GateOwner } from './outbound.ts'
import { RequestBody } from './request-body.ts'
import type { GateAnswer } from './gate-answers.ts'
import { answerRequest } from './gate-answers.ts'

export function requestHandler({
  owner,
  objections,
  inside,
  underWay,
  limits,
}: {
  owner: GateOwner
  objections: ObjectionReporter
  /** The tunnel of a connection whose requests are read. */
  inside: WeakMap<Socket, OpenedTunnel>
  /** Number of requests of a connection without a complete answer. */
  underWay: WeakMap<Socket, number>
  limits: { requests: number }
}) {
  let open = 0

  /** `expects`: the client waits for 100-continue before it sends the body. */
  return async (
    message: IncomingMessage,
    response: ServerResponse,
    expects: boolean,
  ): Promise<void> => {
    const { socket } = message
    const within = inside.get(socket)
    const asked = readRequest(message, within)
    if (!('url' in asked) || open >= limits.requests) {
      response.shouldKeepAlive = false
      return answerRequest(response, 'url' in asked ? tooMany : objections.answerTo(asked))
    }
    const { url, target, headers, hasBody } = asked
    const { method = 'GET' } = message
    const begin = (): void => {
      if (expects && !response.headersSent) response.writeContinue()
    }
    const body = hasBody ? new RequestBody(message, begin) : null
    const aborting = new AbortController()
    open++
    underWay.set(socket, (underWay.get(socket) ?? 0) + 1)
    response.once('close', () => {
      open--
      underWay.set(socket, (underWay.get(socket) ?? 0) - 1)
      if (!response.writableFinished) aborting.abort(new Error('the caller has gone'))
    })
    try {
      // The target was checked when the tunnel was opened.
      if (!within) await objections.judge(target)
      const { signal } = aborting
      const answer = await owner.forward({ method, url, headers, body, signal })
      sendAnswer(answer, { method, response })
    } catch (error) {
      // A body that was not asked for may or may not come, so the connection cannot be reused.
      if (body?.readableEnded === false) response.shouldKeepAlive = false
      body?.destroy()
      answerRequest(response, objections.answerToError(target, error))
    }
  }
}

const tooMany: GateAnswer = {
  status: 503,
  code: 'busy',
  message: 'too many requests are on their way out at the same time',
}
