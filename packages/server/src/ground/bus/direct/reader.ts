/** The reading end of a direct connection: connects to one process, names this process's topics, and gets words. */
import type { TLSSocket } from 'node:tls'
import { connect } from 'node:tls'
import type { Log } from '@steward/base/log.ts'
import { systemClock } from '@steward/base/time.ts'
import type { MemoryChannel } from '../memory.ts'
import { encodeFrame, topicParts, PublisherFrame } from './frames.ts'
import type { PeerAddress, PeerKeys } from './keys.ts'
import { dialerTls } from './keys.ts'
import type { PeerLimits } from './limits.ts'
import { watchLink } from './link.ts'

type PeerReaderDeps = {
  self: PeerAddress
  peer: PeerAddress
  keys: PeerKeys
  limits: PeerLimits
  log: Log
  local: MemoryChannel
  /** True when the other process is dead. */
  isDead: () => Promise<boolean>
  /** Called when the other process lives and cannot be reached: it may be able to reach this process. */
  announce: () => void
}

export type PeerReader = {
  /** Call it when a topic gets its first subscriber here, or loses its last. */
  note(topic: string, hasSubscriber: boolean): void
  /** Resolves when the other process is dead, or after `close`. */
  ended: Promise<void>
  close(): void
}

const firstPauseMs = 100
/** Consecutive failures before asking whether the other process is dead, and before a warning in the log. */
const failuresToAsk = 3
const failuresToWarn = 5

/** Reads from one process. Reconnects as long as that process lives. */
export function readPeer(deps: PeerReaderDeps): PeerReader {
  const { self, peer, keys, limits, log, local, isDead, announce } = deps
  const closing = new AbortController()
  /** Topics with words from this connection. Only these can miss words when it is lost. */
  const heard = new Set<string>()
  const changes = new Map<string, boolean>()
  let link: TLSSocket | undefined

  /** Resolves when the connection has ended, with the reason if the handshake never succeeded. */
  function attempt(address: string): Promise<Error | undefined> {
    return new Promise((resolve) => {
      const { hostname, port } = new URL(`tcp://${address}`)
      const host = hostname.replace(/^\[|\]$/g, '')
      const socket = connect({ ...dialerTls(keys), host, port: Number(port) })
      const late = setTimeout(
        () => socket.destroy(new Error('it did not answer in time')),
        limits.handshakeMs,
      )
      const abort = () => socket.destroy()
      closing.signal.addEventListener('abort', abort, { once: true })
      const hello = { from: self.process, to: peer.process, addresses: self.addresses }
      socket.once('secureConnect', () => socket.write(encodeFrame({ hello })))
      let stood = false
      watchLink(socket, PublisherFrame, limits, {
        hear(said) {
          if (Array.isArray(said)) {
            if (local.hasSubscriber(said[0])) heard.add(said[0])
            local.publish(...said)
          } else if ('missed' in said) local.miss(said.missed)
          else if (said.hello.from !== peer.process) socket.destroy()
          else {
            clearTimeout(late)
            stood = true
            begin(socket)
          }
        },
        end(error = new Error('it closed the connection')) {
          clearTimeout(late)
          closing.signal.removeEventListener('abort', abort)
          link = undefined
          const lost = [...heard]
          heard.clear()
          local.miss(lost)
          resolve(stood ? undefined : error)
        },
      })
    })
  }

  function begin(socket: TLSSocket): void {
    link = socket
    changes.clear()
    for (const read of topicParts([...local.topics()]))
      socket.write(encodeFrame({ read, leave: [] }))
  }

  function tellChanges(): void {
    const all = [...changes]
    changes.clear()
    const those = (hasSubscriber: boolean) =>
      topicParts(all.filter(([, has]) => has === hasSubscriber).map(([topic]) => topic))
    for (const leave of those(false)) link?.write(encodeFrame({ read: [], leave }))
    for (const read of those(true)) link?.write(encodeFrame({ read, leave: [] }))
  }

  async function connectOnce(): Promise<Error | undefined> {
    let failure: Error | undefined
    for (const address of peer.addresses) {
      failure = await attempt(address)
      if (!failure || closing.signal.aborted) return undefined
    }
    return failure
  }

  async function run(): Promise<void> {
    for (let failures = 0; !closing.signal.aborted;) {
      const error = await connectOnce()
      failures = error ? failures + 1 : 0
      if (failures >= failuresToAsk && (await isDead())) return
      if (failures === failuresToWarn) {
        log.warn(unreachable, { ...peer, error })
        announce()
      }
      const pauseMs = Math.min(limits.pauseMs, firstPauseMs * 2 ** failures)
      await systemClock.sleep(pauseMs * (0.5 + Math.random() / 2), closing.signal)
    }
  }

  return {
    note(topic, hasSubscriber) {
      if (!hasSubscriber) heard.delete(topic)
      if (!link) return
      if (changes.size === 0) queueMicrotask(tellChanges)
      changes.set(topic, hasSubscriber)
    },
    ended: run(),
    close: () => closing.abort(),
  }
}

const unreachable =
  'another process cannot be reached, so its live text is not shown here; events come when they are whole. Set PEER_HOST or PEER_ADDRESS of that process to an address that this one reaches'
