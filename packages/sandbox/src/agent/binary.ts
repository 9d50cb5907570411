import { join } from 'node:path'

/** The agent for this machine. */
export function agentBinary(arch: string = process.arch): string {
  if (arch !== 'x64' && arch !== 'arm64') throw new Error(`there is no agent for ${arch}`)
  return join(import.meta.dirname, 'bin', `agent-${arch}`)
}
