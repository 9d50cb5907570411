/** Requests that ask to switch protocols, for example to WebSocket. */
import type { IncomingMessage } from 'node:http'
import { ServerResponse, validateHeaderValue } from 'node:http'
import type { Socket } from 'node:net'
import { sendAnswer } from './answers.ts'
import type { OpenedTunnel } from './heads.ts'
import { onwardAnswer, readRequest } from './heads.ts'
import type { ObjectionReporter } from './objections.ts'
import type { OutboundAnswer, GateOwner, UpgradedConnection } from './outbound.ts'
import { pumpBytes } from './pump.ts'
import { endWithAnswer } from './gate-answers.ts'

/**
 * True when the request asks to switch. HTTP/2 without TLS may be declined, so it does not count. Neither does a
 * request with a body, which would be read as the other protocol.
 */
export function asksToSwitch({ method, headers }: IncomingMessage): boolean {
  const protocol = headers.upgrade?.toLowerCase() ?? ''
  const hasBody = 'content-length' in headers || 'transfer-encoding' in headers
  return method === 'GET' && !hasBody && !/(^|[\s,])(h2c?|tls\/)/.test(protocol)
}

export function createUpgradeHandler({
  owner,
  objections,
  inside,
  limits,
}: {
  owner: GateOwner
  objections: ObjectionReporter
  inside: WeakMap<Socket, OpenedTunnel>
  limits: { idleMs: number }
}) {
  return async (message: IncomingMessage, head: Buffer): Promise<void> => {
    const { socket } = message
    socket.on('error', () => socket.destroy())
    const within = inside.get(socket)
    const asked = readRequest(message, within)
    if (!('url' in asked)) return endWithAnswer(socket, objections.answerTo(asked))
    const aborting = new AbortController()
    socket.once('close', () => aborting.abort(new Error('the caller has gone')))
    const { url, target } = asked
    const protocol = message.headers.upgrade ?? ''
    try {
      if (!within) await objections.judge(target)
      const answer = await owner.upgrade({
        method: 'GET',
        url,
        headers: [...asked.headers, ['Upgrade', protocol]],
        body: null,
        signal: aborting.signal,
      })
      if (!('socket' in answer)) return stay(answer, message)
      if (head.length > 0) socket.unshift(head)
      await pass(answer, { socket, protocol, idleMs: limits.idleMs })
    } catch (error) {
      endWithAnswer(socket, objections.answerToError(target, error))
    }
  }
}

/** Throws, with nothing sent, when the head of the answer cannot be passed on. */
async function pass(
  answer: UpgradedConnection,
  { socket, protocol, idleMs }: { socket: Socket; protocol: string; idleMs: number },
): Promise<void> {
  const agreed = answer.headers.find(([name]) => name.toLowerCase() === 'upgrade')?.[1] ?? protocol
  const flat = ['Connection', 'Upgrade', 'Upgrade', agreed, ...onwardAnswer(answer.headers, 101)]
  let lines = 'HTTP/1.1 101 Switching Protocols\r\n'
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const [name = '', value = ''] = [flat[i], flat[i + 1]]
    try {
      validateHeaderValue(name, value)
    } catch (error) {
      answer.socket.destroy()
      throw error
    }
    lines += `${name}: ${value}\r\n`
  }
  if (socket.destroyed) return void answer.socket.destroy()
  socket.write(`${lines}\r\n`, 'latin1')
  if (answer.head.length > 0) socket.write(answer.head)
  const flow = pumpBytes(socket, answer.socket, idleMs)
  flow.open()
  await flow.ended
}

/** Closes the connection after this answer: the client may have sent bytes of the other protocol already. */
function stay(answer: OutboundAnswer, message: IncomingMessage): void {
  const { socket } = message
  const response = new ServerResponse(message)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  response.once('finish', () => {
    response.detachSocket(socket)
    socket.destroySoon()
  })
  sendAnswer(answer, { method: 'GET', response })
}
