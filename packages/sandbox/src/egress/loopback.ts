/** Connects sandboxes without a network of their own to a gate: a port on this machine's loopback. */
import { connect, createServer } from 'node:net'
import type { Socket } from 'node:net'
import { socketPath } from '@steward/base/socket-path.ts'

/** Every process of this machine can reach the port. */
export async function loopbackBridge(socket: string) {
  const gate = socketPath(socket)
  const open = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const other = connect({ path: gate.path, allowHalfOpen: true })
    client.pipe(other).pipe(client)
    client.on('error', () => other.destroy())
    other.on('error', () => client.resetAndDestroy())
    for (const each of [client, other]) {
      open.add(each)
      each.once('close', () => open.delete(each))
    }
    client.once('close', () => other.destroySoon())
    other.once('close', () => client.destroySoon())
  })
  server.listen(0, '127.0.0.1')
  await new Promise<void>((resolve, reject) => {
    server.once('listening', resolve).once('error', reject)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('a server without a port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    close(): void {
      server.close()
      for (const each of open) each.destroy()
      gate.forget()
    },
  }
}
