/**
 * Runs the setup commands of an environment before the first command of a session, once in its life: what they leave in
 * the working folder stays.
 */
import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { TurnFailed } from '@steward/protocol/turn-failed.ts'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'
import type { SetupCommand } from '@steward/protocol/environments.ts'
import type { MountKind } from '../runner/sandboxes/mount-kind.ts'

const timeoutMs = 10 * 60_000
/** Characters of the output that an error shows. */
const shownOutput = 2_000

/** This file exists while setup commands may not have run to their end. */
const markPath = (own: string): string => join(own, 'setup.open')

export const mountSetup: MountKind = async ({ environment, folder, isKnown, during }) => {
  const commands = environment.mounts?.setup ?? []
  if (commands.length === 0 || (isKnown && !existsSync(markPath(folder)))) return {}
  await mkdir(folder, { recursive: true })
  await writeFile(markPath(folder), '')
  return {
    async started(sandbox) {
      await during('packages', runAll(sandbox, commands))
      await rm(markPath(folder), { force: true })
    },
  }
}

async function runAll(sandbox: Sandbox, commands: readonly SetupCommand[]): Promise<void> {
  for (const [index, { command, cwd }] of commands.entries()) {
    const script = 'cd -- "$1" && eval "$2"'
    const result = await sandbox.aside({ script, arguments: [cwd, command], timeoutMs })
    if (result.ended === 'exit' && result.exitCode === 0) continue
    const how =
      result.ended === 'exit' ? `ended with exit code ${result.exitCode}` : 'took too long'
    const said = result.output.trim().slice(-shownOutput)
    const message = `setup command ${index + 1} of the environment ${how}; the next turn runs all of them again${said === '' ? '' : `: ${said}`}`
    throw new TurnFailed({ type: 'unknown_error', message })
  }
}
