/** A syslog server over TLS (RFC 5425) that takes, breaks off or delays what it is sent. */
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import { createServer } from 'node:tls'
import { certificateAuthority } from '@steward/gate/authority.ts'

export type SyslogMessage = { header: string; text: string }

/** What the server does with a connection. `break`: it dies before it has read all. `hang`: it never closes. */
export type SyslogConduct = 'take' | 'refuse' | 'break' | 'slow' | 'hang'

/** The messages in the bytes, which count their octets. */
function messagesIn(bytes: Buffer): SyslogMessage[] {
  const messages: SyslogMessage[] = []
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(' ', at)
    const length = Number(bytes.toString('latin1', at, space))
    if (space < 0 || bytes.length < space + 1 + length) break
    const message = bytes.toString('utf8', space + 1, space + 1 + length)
    const mark = message.indexOf('\ufeff')
    messages.push({ header: message.slice(0, mark), text: message.slice(mark + 1) })
    at = space + 1 + length
  }
  return messages
}

export async function startSyslogServer(authorityFile: string) {
  const authority = certificateAuthority()
  await writeFile(authorityFile, authority.pem)
  const messages: SyslogMessage[] = []
  const conducts: SyslogConduct[] = []
  const sockets = new Set<TLSSocket>()
  /** The connections below TLS, the newest last: a process that dies resets them. */
  const raw: Socket[] = []
  let connections = 0

  async function serve(socket: TLSSocket): Promise<void> {
    connections++
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    const conduct = conducts.shift() ?? 'take'
    if (conduct === 'refuse') return void socket.destroy()
    const pieces: Buffer[] = []
    socket.on('data', (piece: Buffer) => {
      pieces.push(piece)
      const [first] = messagesIn(Buffer.concat(pieces))
      if (conduct !== 'break' || !first) return
      messages.push(first)
      raw.at(-1)?.resetAndDestroy()
    })
    await once(socket, 'end').catch(() => undefined)
    if (conduct === 'break' || conduct === 'hang') return
    if (conduct === 'slow') await delay(1_500)
    messages.push(...messagesIn(Buffer.concat(pieces)))
    socket.end()
  }

  const server = createServer(
    {
      allowHalfOpen: true,
      SNICallback: (_name, done) => done(null, authority.contextFor('localhost')),
    },
    (socket) => void serve(socket),
  )
  server.on('tlsClientError', () => {})
  server.on('connection', (socket: Socket) => void raw.push(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    address: `syslog+tls://localhost:${port}`,
    messages,
    /** What is done with the next connections, in this order; then all is taken. */
    conduct: (...next: SyslogConduct[]) => void conducts.push(...next),
    connections: () => connections,
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
