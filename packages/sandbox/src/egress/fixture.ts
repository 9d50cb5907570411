/** For tests: a gate that answers for every name that does not begin with `refused`, and records the requests. */
import { once } from 'node:events'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import type { SandboxEgress } from '../sandbox.ts'

export const testAuthorities = 'the authorities of the test\n'

/** Handles a connection after its head. The default echoes. */
export type ConnectionHandler = (socket: Socket, head: string) => void

const echo: ConnectionHandler = (socket) => void socket.pipe(socket)

/** The socket's path is longer than a socket path may be. */
export async function startTestGate(folder: string, talk: ConnectionHandler = echo) {
  const heads: string[] = []
  const open = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    open.add(socket)
    socket.on('error', () => socket.destroy()).once('close', () => open.delete(socket))
    let text = ''
    socket.on('data', function read(chunk: Buffer) {
      text += chunk.toString('latin1')
      const end = text.indexOf('\r\n\r\n')
      if (end < 0) return
      socket.off('data', read).pause()
      const head = text.slice(0, end)
      heads.push(head)
      if (head.startsWith('CONNECT refused')) return void socket.end('HTTP/1.1 403 No\r\n\r\n')
      socket.write('HTTP/1.1 200 Yes\r\n\r\n')
      const rest = text.slice(end + 4)
      if (rest !== '') socket.unshift(Buffer.from(rest, 'latin1'))
      talk(socket, head)
      socket.resume()
    })
  })
  const [short, deep] = [join(folder, 'g'), join(folder, 'a-long-name-of-a-folder'.repeat(8))]
  server.listen(short)
  await once(server, 'listening')
  mkdirSync(deep)
  const egress: SandboxEgress = {
    socket: join(deep, 'gate.sock'),
    certificates: join(deep, 'bundle.pem'),
  }
  renameSync(short, egress.socket)
  writeFileSync(egress.certificates, testAuthorities)
  return {
    egress,
    heads,
    open,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
