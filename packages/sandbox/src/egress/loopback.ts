/** Connects sandboxes without a network of their own to a gate: a port on this machine's loopback. */
import { closeSync, constants, openSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import type { Socket } from 'node:net'
import { basename, dirname } from 'node:path'

/** Longest socket path on every system, in bytes. */
const longestPath = 103

/** Every process of this machine can reach the port. */
export async function loopbackBridge(socket: string) {
  const gate = nameSocket(socket)
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

/** A longer path is reached through its folder, which stays open. */
function nameSocket(socket: string): { path: string; forget(): void } {
  if (Buffer.byteLength(socket) <= longestPath) return { path: socket, forget() {} }
  const folder = openSync(dirname(socket), constants.O_DIRECTORY)
  return {
    path: `/proc/self/fd/${folder}/${basename(socket)}`,
    forget: () => closeSync(folder),
  }
}
