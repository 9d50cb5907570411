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

/** The settings as they are given: the root secret may be wrapped. */
export async function readSettingsOrExit(): Promise<Config> {
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

/** With the root secret in the clear. */
async function withRootSecret(config: Config): Promise<Config> {
  if (!config.rootSecretKeyService) return config
  const { unwrapConfig } = await import('../key-service.ts')
  const unwrapped = await unwrapConfig(config)
  return unwrapped.ok
    ? unwrapped.config
    : exitWithLines(['Steward does not start:', `  ${unwrapped.problem}`])
}

export const readConfigOrExit = async (): Promise<Config> =>
  withRootSecret(await readSettingsOrExit())

/**
 * The configuration of a command that starts sandboxes: the process first enters a user namespace where sandboxes need
 * one.
 */
export async function settingsAmongOwnUsers(): Promise<Config> {
  const config = await readSettingsOrExit()
  if (config.sandbox === 'bubblewrap' && config.sandboxUsers !== 'shared') {
    const { enterOwnUsers } = await import('@steward/sandbox/own-users.ts')
    enterOwnUsers()
  }
  return config
}

/** Like `settingsAmongOwnUsers`, with the root secret in the clear. */
export const configurationAmongOwnUsers = async (): Promise<Config> =>
  withRootSecret(await settingsAmongOwnUsers())

export const printLine = (line: string) => process.stdout.write(`${line}\n`)
/** What a person reads beside the output of a command. */
export const say = (text: string) => process.stderr.write(`steward: ${text}\n`)
