import { join } from 'node:path'

/** Path of the sandbox daemon's binary for this machine. Throws for other architectures. */
export function daemonBinary(arch: string = process.arch): string {
  if (arch !== 'x64' && arch !== 'arm64') throw new Error(`there is no sandbox daemon for ${arch}`)
  return join(import.meta.dirname, 'bin', `sandboxd-${arch}`)
}
