/** Requests that the gate can read, on their way to its owner, and the answers on their way back. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { send } from './answers.ts'
import type { OpenedTunnel } from './heads.ts'
import { readRequest } from './heads.ts'
import type { Objections } from './objections.ts'
import type { GateOwner } from './outbound.ts'
import { RequestBody } from './request-body.ts'
import type { GateAnswer } from './said.ts'
import { say } from './said.ts'

export function requests({
  owner,
  objections,
  inside,
  underWay,
  limits,
}: {
  owner: GateOwner
  objections: Objections
  /** Where a connection ends that is no longer the gate's own. */
  inside: WeakMap<Socket, OpenedTunnel>
  /** How many requests of a connection have no whole answer yet. */
  underWay: WeakMap<Socket, number>
  limits: { requests: number }
}) {
  let open = 0

  /** `expects`: the client waits for a word before it sends the body. */
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
      return say(response, 'url' in asked ? tooMany : objections.saying(asked))
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
      // In a tunnel the target was judged when the tunnel was opened.
      if (!within) await objections.judge(target)
      const { signal } = aborting
      const answer = await owner.forward({ method, url, headers, body, signal })
      send(answer, { method, response })
    } catch (error) {
      // A body that nobody asked for may still come, or not.
      if (body?.readableEnded === false) response.shouldKeepAlive = false
      body?.destroy()
      say(response, objections.sayingWhy(target, error))
    }
  }
}

const tooMany: GateAnswer = {
  status: 503,
  code: 'busy',
  message: 'too many requests are on their way out at the same time',
}
