/**
 * Kept connections that send ready-made requests. The client does little work, so that the figures are those of the
 * server.
 */
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import type { Upstream } from './processes.ts'

export type Line = {
  /** Resolves with the length of the body when the whole answer is there. Throws for any status except 200. */
  ask(request: string | Buffer): Promise<number>
  /** Sends the head, then `bytes` bytes as fast as the server takes them. */
  send(head: string, bytes: number): Promise<number>
  close(): void
}

type Waiting = { resolve: (bytes: number) => void; reject: (why: Error) => void }

function line(socket: Duplex): Line {
  let waiting: Waiting | undefined
  let head: Buffer = Buffer.alloc(0)
  /** Bytes of the body: the rest that is still to come, and the total. */
  let left = -1
  let whole = 0
  const fail = (why: Error) => {
    waiting?.reject(why)
    waiting = undefined
  }
  socket.on('error', fail)
  socket.on('close', () => fail(new Error('the connection was closed')))
  socket.on('data', (chunk: Buffer) => {
    if (left >= 0) left -= chunk.length
    else {
      head = head.length === 0 ? chunk : Buffer.concat([head, chunk])
      const end = head.indexOf('\r\n\r\n')
      if (end < 0) return
      const text = head.toString('latin1', 0, end)
      const length = /^content-length: (\d+)/im.exec(text)?.[1]
      if (!text.startsWith('HTTP/1.1 200 ') || length === undefined) {
        return fail(new Error(`unexpected answer: ${head.toString().slice(0, 2_000)}`))
      }
      whole = Number(length)
      left = whole - (head.length - end - 4)
      head = head.subarray(0, 0)
    }
    if (left > 0) return
    left = -1
    waiting?.resolve(whole)
    waiting = undefined
  })
  const answered = () =>
    new Promise<number>((resolve, reject) => {
      waiting = { resolve, reject }
    })
  return {
    ask(request) {
      const answer = answered()
      socket.write(request)
      return answer
    },
    async send(first, bytes) {
      const answer = answered()
      socket.write(first)
      const piece = Buffer.alloc(256 * 1024, 'x')
      for (let rest = bytes; rest > 0; rest -= piece.length) {
        if (!socket.write(rest < piece.length ? piece.subarray(0, rest) : piece)) {
          await once(socket, 'drain')
        }
      }
      return answer
    },
    close: () => void socket.destroy(),
  }
}

async function secured(socket: Duplex, ca: string): Promise<Line> {
  const secure = connectTls({ socket, servername: 'localhost', ca })
  await once(secure, 'secureConnect')
  return line(secure)
}

async function dialled(to: { port: number; host: string } | { path: string }) {
  const socket = connect(to)
  await once(socket, 'connect')
  if ('port' in to) socket.setNoDelay(true)
  return socket
}

export const plain = async (base: string): Promise<Line> =>
  line(await dialled({ host: '127.0.0.1', port: Number(new URL(base).port) }))

export const direct = async ({ port, ca }: Upstream): Promise<Line> =>
  secured(await dialled({ host: '127.0.0.1', port }), ca)

/** The address of a sandbox's gate, and the certificate authority that programs in the sandbox trust. */
export type OpenGate = { socket: string; ca: string }

/** Opens a connection as a program in a sandbox does: CONNECT, then TLS. */
export async function throughGate(gate: OpenGate, { port, ca }: Upstream): Promise<Line> {
  const socket = await dialled({ path: gate.socket })
  socket.write(`CONNECT localhost:${port} HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`)
  const [said] = (await once(socket, 'data')) as [Buffer]
  if (!said.toString().startsWith('HTTP/1.1 200 ')) throw new Error(said.toString())
  return secured(socket, gate.ca + ca)
}
