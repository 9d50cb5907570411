/** For tests: several processes that reach each other, all inside this one. */
import { execFileSync } from 'node:child_process'
import { randomInt, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { connect } from 'node:tls'
import type { z } from 'zod'
import type { LogFields, Log } from '@steward/base/log.ts'
import type { Channel } from '../bus.ts'
import type { MemoryChannel } from '../memory.ts'
import { memoryChannel } from '../memory.ts'
import { directChannel } from './channel.ts'
import { encodeFrame, frameDecoder, PublisherFrame } from './frames.ts'
import type { PeerKeys } from './keys.ts'
import { dialerTls } from './keys.ts'
import type { PeerLimits } from './limits.ts'
import { usualPeerLimits } from './limits.ts'

export const peerKeys: PeerKeys = [Buffer.alloc(32, 1)]

/** Frequent heartbeats, so that silence is found soon. */
export const quickLimits: PeerLimits = { ...usualPeerLimits, heartbeatMs: 100, pauseMs: 200 }

export type LogLine = { message: string; fields: LogFields | undefined }

/** Stores the log lines, except debug lines. */
export function keptLog(): Log & { lines: LogLine[] } {
  const lines: LogLine[] = []
  const keep = (message: string, fields?: LogFields) => void lines.push({ message, fields })
  return { lines, debug: () => {}, info: keep, warn: keep, error: keep }
}

type ListenAddress = { host: string; port: number }

export type TestProcess = { name: string; channel: Channel; log: ReturnType<typeof keptLog> }

/** Opens processes that hear of each other by `notifications`. */
export function createProcesses(notifications: MemoryChannel = memoryChannel()) {
  const ended = new Set<string>()
  const opened: Channel[] = []
  return {
    notifications,
    /** Marks a process as dead. */
    end: (name: string) => void ended.add(name),
    async open(
      given: Partial<{ keys: PeerKeys; limits: PeerLimits; address: string } & ListenAddress> = {},
    ): Promise<TestProcess> {
      const { keys = peerKeys, limits = quickLimits, address } = given
      const { host = '127.0.0.1', port = 0 } = given
      const name = `process_${randomUUID()}`
      const log = keptLog()
      const owners = {
        self: name,
        dead: async (asked: readonly string[]) => asked.filter((each) => ended.has(each)),
      }
      const setup = { host, port, address }
      const channel = await directChannel({
        notifications,
        owners,
        keys,
        setup,
        log,
        limits,
      })
      opened.push(channel)
      return { name, channel, log }
    },
    close: async () => void (await Promise.all(opened.map((channel) => channel.close()))),
  }
}

/** The address at which the process says that it listens. */
export const addressOf = ({ log }: TestProcess): string => {
  const [address] = log.lines.flatMap(({ fields }) => (fields?.['addresses'] as string[]) ?? [])
  if (address === undefined) throw new Error('the process does not say where it listens')
  return address
}

/** A client that has the key and sends the frames that a test chooses. */
export async function bareReader(process: TestProcess, from = `process_${randomUUID()}`) {
  const { hostname, port } = new URL(`tcp://${addressOf(process)}`)
  const socket = connect({ ...dialerTls(peerKeys), host: hostname, port: Number(port) })
  // The test may end the connection.
  socket.on('error', () => {})
  const heard: z.infer<typeof PublisherFrame>[] = []
  const decode = frameDecoder(PublisherFrame, (said) => heard.push(said))
  socket.on('data', (bytes: Buffer) => decode(bytes))
  await once(socket, 'secureConnect')
  const say = (frame: Parameters<typeof encodeFrame>[0]) => socket.write(encodeFrame(frame))
  say({ hello: { from, to: process.name, addresses: [] } })
  const closed = new Promise((resolve) => socket.once('close', resolve))
  return { socket, heard, say, closed }
}

/** A key, and a certificate of it for this machine. */
export const selfSigned = (): string =>
  execFileSync(
    'openssl',
    [
      ...'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=test'.split(' '),
      ...'-addext subjectAltName=IP:127.0.0.1,DNS:localhost -keyout - -out -'.split(' '),
    ],
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
  )

export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5))
}

/**
 * A port of this machine that nobody has at the moment, and that the system gives to nobody unasked: it lies below the
 * ports of outgoing connections and of `listen(0)`, which other tests use at the same time.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries++) {
    const port = randomInt(12_000, 32_000)
    const server = createServer().listen(port, '127.0.0.1')
    const isFree = await once(server, 'listening').then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'EADDRINUSE') return false
        throw error
      },
    )
    if (!isFree) continue
    server.close()
    await once(server, 'close')
    return port
  }
  throw new Error('no port is free')
}
