/** The publishing end of direct connections: other processes connect, name their topics, and get the words of these. */
import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { createServer } from 'node:tls'
import type { Log } from '@steward/base/log.ts'
import type { Audience, ReadingProcess } from './audience.ts'
import { createAudience, reportLost } from './audience.ts'
import type { ReaderHello } from './frames.ts'
import { encodeFrame, ReaderFrame } from './frames.ts'
import type { PeerAddress, PeerKeys } from './keys.ts'
import { listenerTls } from './keys.ts'
import type { PeerLimits } from './limits.ts'
import { watchLink } from './link.ts'

type PublisherDeps = {
  self: string
  keys: PeerKeys
  address: { host: string; port: number }
  limits: PeerLimits
  log: Log
  /** Called when another process has connected. */
  meet: (peer: PeerAddress) => void
}

export type Publisher = {
  port: number
  publish: Audience['publish']
  mayBeHeard: Audience['mayBeHeard']
  /** True while the process is connected to this one. */
  hasReader(process: string): boolean
  close(): Promise<void>
}

export async function createPublisher(deps: PublisherDeps): Promise<Publisher> {
  const { self, keys, address: own, limits, log, meet } = deps
  const readers = new Map<string, ReadingProcess>()
  const audience = createAudience(limits.waitingBytes)
  const options = { ...listenerTls(keys), handshakeTimeout: limits.handshakeMs }
  const server = createServer(options, greet)
  // Logged as debug: scanners cause it. A process of this service that fails to connect logs that itself.
  server.on('tlsClientError', (error, socket) => {
    log.debug('a stranger was refused', { error })
    // Node reports a handshake that takes too long without ending it.
    socket.destroy()
  })
  const strangers = boundStrangers(limits.strangers)
  server.on('connection', (socket: Socket) => strangers.add(socket))
  server.listen(own.port, own.host)
  await once(server, 'listening')
  server.on('error', (error) => log.error('the port for other processes failed', { error }))

  function greet(socket: TLSSocket): void {
    let reader: ReadingProcess | undefined
    const late = setTimeout(() => socket.destroy(), limits.handshakeMs)
    watchLink(socket, ReaderFrame, limits, {
      hear(said) {
        if ('hello' in said) {
          clearTimeout(late)
          reader ??= admit(socket, said.hello)
        } else if (!reader || reader.topics.size + said.read.length > limits.topics)
          socket.destroy()
        else if (!socket.destroyed) {
          audience.remove(reader, said.leave)
          audience.add(reader, said.read)
        }
      },
      end() {
        clearTimeout(late)
        if (reader) dismiss(reader)
      },
    })
  }

  /** Undefined for a process that looks for another one, and above the limit of processes. */
  function admit(
    socket: TLSSocket,
    { from, to, addresses }: ReaderHello,
  ): ReadingProcess | undefined {
    const earlier = readers.get(from)
    if (to !== self || (!earlier && readers.size >= limits.peers)) {
      socket.destroy()
      return undefined
    }
    // A process reconnects only when its earlier connection is lost.
    earlier?.socket.destroy()
    strangers.remove(socket)
    const reader = { process: from, socket, topics: new Set<string>(), lost: new Set<string>() }
    readers.set(from, reader)
    socket.on('drain', () => reportLost(reader))
    socket.write(encodeFrame({ hello: { from: self } }))
    meet({ process: from, addresses })
    return reader
  }

  function dismiss(reader: ReadingProcess): void {
    audience.remove(reader, reader.topics)
    if (readers.get(reader.process) === reader) readers.delete(reader.process)
  }

  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : own.port,
    publish: (topic, message) => audience.publish(topic, message),
    mayBeHeard: (topic) => audience.mayBeHeard(topic),
    hasReader: (process) => readers.has(process),
    async close() {
      const closed = once(server, 'close')
      server.close()
      for (const { socket } of readers.values()) socket.destroySoon()
      strangers.close()
      const late = setTimeout(() => {
        for (const { socket } of readers.values()) socket.destroy()
      }, lastWordsMs)
      await closed
      clearTimeout(late)
    },
  }
}

/** Milliseconds for the last words at the close. */
const lastWordsMs = 1_000

/** Connections that have not proved the key. One too many ends the oldest: a process with the key proves it at once. */
function boundStrangers(most: number) {
  const strangers = new Map<string, Socket>()
  // The TCP socket and the TLS socket are different objects, so the remote address names the connection.
  const nameOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`
  return {
    add(socket: Socket): void {
      const [oldest] = strangers.values()
      if (strangers.size >= most) oldest?.destroy()
      const name = nameOf(socket)
      strangers.set(name, socket)
      // Resets of strangers are of no interest.
      socket.on('error', () => {})
      socket.once('close', () => {
        if (strangers.get(name) === socket) strangers.delete(name)
      })
    },
    remove: (socket: Socket) => void strangers.delete(nameOf(socket)),
    close() {
      for (const socket of strangers.values()) socket.destroy()
    },
  }
}
