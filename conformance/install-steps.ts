/** The steps of docs/install.md: commands, and the output that each promises. */
import { readFileSync } from 'node:fs'

type InstallStep = { command: string; output: string }

/** The commands, each with the block that follows it. */
export function installSteps(): InstallStep[] {
  const page = readFileSync(new URL('../docs/install.md', import.meta.url), 'utf8')
  const pairs = page.matchAll(/^ *```sh\n([^]*?)^ *```\n\n^ *```text\n([^]*?)^ *```$/gm)
  return [...pairs].map(([, command = '', output = '']) => ({
    command: command.trim(),
    output: output.replaceAll(/^ +/gm, '').trim(),
  }))
}

/** True for the promised output, in which `…` stands for any text. */
export function isPromised(output: string, promised: string): boolean {
  const parts = promised.split('…').map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  return new RegExp(`^${parts.join('[^]*')}$`).test(output.trim())
}
