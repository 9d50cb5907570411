/** Programs that cases need besides Node, with the Debian package of each. */
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { bwrapPaths } from '@steward/sandbox/bubblewrap/bubblewrap.ts'

const packages = {
  bwrap: 'bubblewrap',
  cargo: 'cargo-web',
  cc: 'gcc',
  chromium: 'chromium',
  git: 'git',
  go: 'golang-go',
  'nats-server': 'nats-server',
  openssl: 'openssl',
  pip3: 'python3-pip',
  ruby: 'ruby',
  tar: 'tar',
} as const
export type Program = keyof typeof packages

/** Programs that a server needs to start. */
export const serverPrograms: readonly Program[] = ['bwrap']

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function isInstalled(program: Program): boolean {
  if (program === 'bwrap') return bwrapPaths.some(canRun)
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return folders.some((folder) => canRun(join(folder, program)))
}

/** Returns the command that installs the missing programs; undefined when none is missing. */
export function installCommand(
  programs: readonly Program[],
  isThere: (program: Program) => boolean = isInstalled,
): string | undefined {
  const missing = programs.filter((program) => !isThere(program))
  if (missing.length === 0) return undefined
  return `apt-get install ${missing.map((program) => packages[program]).join(' ')}`
}
