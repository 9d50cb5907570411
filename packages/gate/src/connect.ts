/** Handles CONNECT: checks the target, then reads, tunnels or refuses the connection. */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import type { Authority } from './authority.ts'
import type { ClientHello } from './client-hello.ts'
import type { OpenedTunnel } from './heads.ts'
import { mismatchRefusal, readConnect } from './heads.ts'
import type { ObjectionReporter } from './objections.ts'
import type { GateOwner, GateRefusal, GateTarget } from './outbound.ts'
import { RequestRefused } from './outbound.ts'
import type { PeekResult } from './peek.ts'
import { peekMessage } from './peek.ts'
import { normalHost } from './policy.ts'
import { pumpBytes } from './pump.ts'
import { endWithBytes, endWithAnswer } from './gate-answers.ts'

const established = 'HTTP/1.1 200 Connection Established\r\n\r\n'

/** A fatal alert, for a TLS client. RFC 8446 6 */
const alert = (description: number): Buffer => Buffer.of(21, 3, 3, 0, 2, 2, description)
const unrecognizedName = alert(112)
const noApplicationProtocol = alert(120)

export function connectHandler({
  owner,
  objections,
  authority,
  limits,
  serve,
}: {
  owner: GateOwner
  objections: ObjectionReporter
  authority: Authority
  limits: { helloMs: number; idleMs: number }
  /** Takes over a connection whose requests are read. */
  serve: (socket: Socket, inside: OpenedTunnel) => void
}) {
  return async (message: IncomingMessage, head: Buffer): Promise<void> => {
    const { socket } = message
    socket.on('error', () => socket.destroy())
    const target = readConnect(message)
    if (!('host' in target)) return endWithAnswer(socket, objections.answerTo(target))
    let verdict: 'read' | 'tunnel'
    let upstream: Duplex | undefined
    try {
      verdict = await objections.judge(target)
      if (verdict === 'tunnel' && target.port !== 80) upstream = await owner.dial(target)
    } catch (error) {
      return endWithAnswer(socket, objections.answerToError(target, error))
    }
    if (socket.destroyed) return void upstream?.destroy()
    socket.write(established)
    if (upstream) return tunnel(target, upstream)
    return verdict === 'read' ? read(target) : plainOrTunnel(target)

    /** Ends a connection whose client was told that it is connected. */
    function close(refusal?: GateRefusal): void {
      if (!refusal) return void socket.destroy()
      owner.refused(refusal)
      endWithBytes(socket, refusal.reason === 'protocol' ? noApplicationProtocol : unrecognizedName)
    }

    function look(firstMs: number): Promise<PeekResult> {
      return peekMessage(socket, head, { firstMs, restMs: limits.helloMs })
    }

    async function read(to: GateTarget): Promise<void> {
      const first = await look(limits.helloMs)
      if (first.kind === 'other') return serve(socket, { target: to, scheme: 'http' })
      if (first.kind !== 'hello') return close(strange(first, to))
      const refusal = unnamed(first.hello, to) ?? onlyNew(first.hello, to)
      if (refusal) return close(refusal)
      const secure = new TLSSocket(socket, {
        isServer: true,
        secureContext: authority.contextFor(to.host),
        ALPNProtocols: ['http/1.1'],
      })
      serve(secure, { target: to, scheme: 'https' })
    }

    /** Plain HTTP on its own port is read for every host: its Host header must match the target's name. */
    async function plainOrTunnel(to: GateTarget): Promise<void> {
      const first = await look(limits.helloMs)
      if (first.kind === 'other') return serve(socket, { target: to, scheme: 'http' })
      const refusal = objection(first, to)
      if (refusal || first.kind !== 'hello') return close(refusal)
      let dialled: Duplex
      try {
        dialled = await owner.dial(to)
      } catch (error) {
        return close(error instanceof RequestRefused ? error.refusal : undefined)
      }
      const flow = pumpBytes(socket, dialled, limits.idleMs)
      flow.open()
      await ending(to, flow)
    }

    async function tunnel(to: GateTarget, dialled: Duplex): Promise<void> {
      const flow = pumpBytes(socket, dialled, limits.idleMs)
      // oxlint-disable-next-line steward/await-later -- a flow ends without an error
      const ended = ending(to, flow)
      // On ports other than 443 the upstream may speak first, or alone.
      const isOpen = to.port !== 443
      const first = await look(isOpen ? limits.idleMs : limits.helloMs)
      const refusal = objection(first, to)
      if (!refusal && (isOpen || first.kind === 'hello')) flow.open()
      else {
        flow.cut()
        close(refusal)
      }
      await ended
    }

    async function ending(to: GateTarget, { ended }: Pick<ReturnType<typeof pumpBytes>, 'ended'>) {
      const began = performance.now()
      const passed = await ended
      owner.tunnelled({ ...to, ms: Math.round(performance.now() - began), ...passed })
    }
  }
}

/** The refusal of a tunnelled connection because of its first bytes; undefined to let it pass. */
function objection(first: PeekResult, target: GateTarget): GateRefusal | undefined {
  if (first.kind === 'hello') return unnamed(first.hello, target, true)
  if (first.kind !== 'other') return strange(first, target)
  if (target.port !== 443) return undefined
  return { ...target, reason: 'protocol', message: `port 443 of ${target.host} takes TLS alone` }
}

const strange = (first: PeekResult, target: GateTarget): GateRefusal | undefined =>
  first.kind === 'malformed'
    ? { ...target, reason: 'protocol', message: `what was said to ${target.host} is no TLS` }
    : undefined

function unnamed(
  { serverName }: ClientHello,
  target: GateTarget,
  isNeeded = false,
): GateRefusal | undefined {
  if (serverName === undefined)
    return isNeeded ? mismatchRefusal(target, 'no server (SNI)') : undefined
  return normalHost(serverName) === target.host
    ? undefined
    : mismatchRefusal(target, 'another server (SNI)')
}

function onlyNew({ protocols }: ClientHello, target: GateTarget): GateRefusal | undefined {
  if (!protocols || protocols.includes('http/1.1')) return undefined
  const message = `requests to ${target.host} are taken in HTTP/1.1, which the client does not offer`
  return { ...target, reason: 'protocol', message }
}
