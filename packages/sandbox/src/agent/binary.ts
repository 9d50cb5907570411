import { join } from 'node:path'

/** Path of the sandbox daemon's binary for this machine. Throws for other architectures. */
export function agentBinary(arch: string = process.arch): string {
  if (arch !== 'x64' && arch !== 'arm64') throw new Error(`there is no agent for ${arch}`)
  return join(import.meta.dirname, 'bin', `agent-${arch}`)
}
