/** The parts that all commands use: settings, output and exit. */
import type { Config } from '../../ground/config/config.ts'
import { readConfig } from '../../ground/config/config.ts'

export function fail(lines: string[]): never {
  process.stderr.write(`${lines.join('\n')}\n`)
  process.exit(1)
}

/** A mistake in the command itself, told in one line. */
export function refuse(why: string): never {
  process.stderr.write(
    `steward: ${why}${/[.?]$/.test(why) ? '' : '.'} npm start -- help lists all commands.\n`,
  )
  process.exit(2)
}

export function configuration(): Config {
  const read = readConfig(process.env)
  if (read.ok) return read.config
  return fail(['Steward does not start:', ...read.problems.map((problem) => `  ${problem}`)])
}

/**
 * The configuration of a command that starts sandboxes: the process first enters a user namespace where sandboxes need
 * one.
 */
export async function configurationAmongOwnUsers(): Promise<Config> {
  const config = configuration()
  if (config.sandbox === 'bubblewrap' && config.sandboxUsers !== 'shared') {
    const { enterOwnUsers } = await import('@steward/sandbox/own-users.ts')
    enterOwnUsers()
  }
  return config
}

export const say = (line: string) => process.stdout.write(`${line}\n`)
