/** Unix sockets at paths that are too long for one. */
import { closeSync, constants, openSync } from 'node:fs'
import { basename, dirname } from 'node:path'

/** Longest socket path on every system, in bytes. */
const longestPath = 103

/** The path to listen on or to dial, until `forget` is called. Holds the folder of a long one open until then. */
export function socketPath(socket: string): { path: string; forget(): void } {
  if (Buffer.byteLength(socket) <= longestPath) return { path: socket, forget() {} }
  const folder = openSync(dirname(socket), constants.O_DIRECTORY)
  let isOpen = true
  return {
    path: `/proc/self/fd/${folder}/${basename(socket)}`,
    forget() {
      // The number of a closed descriptor may be another one's soon.
      if (isOpen) closeSync(folder)
      isOpen = false
    },
  }
}
