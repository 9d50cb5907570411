/** The parts that all commands use: settings, output and exit. */
import { serverCommand } from '@steward/base/own-command.ts'
import type { Config } from '../../ground/config/config.ts'
import { trustAuthorities } from '../../ground/core/security/authorities.ts'
import { readGivenConfig } from '../../ground/config/config.ts'

export function exitWithLines(lines: string[], exitCode = 1): never {
  process.stderr.write(`${lines.join('\n')}\n`)
  process.exit(exitCode)
}

/** A mistake in the command itself, told in one line. */
export function refuseCommand(why: string): never {
  const sentence = /[.?]$/.test(why) ? why : `${why}.`
  return exitWithLines([`steward: ${sentence} ${serverCommand} help lists all commands.`], 2)
}

/** The first sentence of an error of `parseArgs`. The second is advice that does not fit these commands. */
export const parseProblem = ({ message }: Error): string =>
  message.split(/\. (?:To specify|Did you)/)[0] ?? message

export async function readConfigOrExit(): Promise<Config> {
  const read = await readGivenConfig(process.env)
  if (read.ok) {
    trustAuthorities(read.config.outgoing.authorities)
    return read.config
  }
  return exitWithLines([
    'Steward does not start:',
    ...read.problems.map((problem) => `  ${problem}`),
  ])
}

/**
 * The configuration of a command that starts sandboxes: the process first enters a user namespace where sandboxes need
 * one.
 */
export async function configurationAmongOwnUsers(): Promise<Config> {
  const config = await readConfigOrExit()
  if (config.sandbox === 'bubblewrap' && config.sandboxUsers !== 'shared') {
    const { enterOwnUsers } = await import('@steward/sandbox/own-users.ts')
    enterOwnUsers()
  }
  return config
}

export const printLine = (line: string) => process.stdout.write(`${line}\n`)
/** What a person reads beside the output of a command. */
export const say = (text: string) => process.stderr.write(`steward: ${text}\n`)
