/** The account that the server runs as. */
import { execFileSync } from 'node:child_process'
import { readIfThere } from '../planned-files.ts'
import { account, dataFolder, subordinateIds } from './unit.ts'

/** A command as root, and what it does. */
export type AccountStep = { about: string; command: string[] }

const ids = { subuid: '--add-subuids', subgid: '--add-subgids' } as const

const isListed = (file: string): boolean =>
  (readIfThere(file) ?? '').split('\n').some((line) => line.startsWith(`${account}:`))

/** The steps that this machine lacks. */
export function missingAccountSteps(): AccountStep[] {
  const made = ['--system', '--create-home', '--home-dir', dataFolder]
  const create: AccountStep = {
    about: `the account ${account} with the folder ${dataFolder}`,
    command: ['useradd', ...made, '--shell', '/usr/sbin/nologin', account],
  }
  const lacking = Object.entries(ids).filter(([name]) => !isListed(`/etc/${name}`))
  const options = lacking.flatMap(([, option]) => [option, subordinateIds])
  const give: AccountStep = {
    about: `subordinate ids of ${account}, so that each session has a user of its own`,
    command: ['usermod', ...options, account],
  }
  return [...(isListed('/etc/passwd') ? [] : [create]), ...(lacking.length > 0 ? [give] : [])]
}

export function takeStep({ command: [program = '', ...words] }: AccountStep): void {
  execFileSync(program, words, { stdio: 'inherit' })
}
