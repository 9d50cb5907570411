/** Programs that cases need beside Node, and the Debian package that brings each. */
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

const packages = {
  bwrap: 'bubblewrap',
  cargo: 'cargo-web',
  cc: 'gcc',
  git: 'git',
  go: 'golang-go',
  openssl: 'openssl',
  pip3: 'python3-pip',
  ruby: 'ruby',
  tar: 'tar',
} as const
export type Program = keyof typeof packages

const isInstalled = (program: Program): boolean =>
  (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })

/** The command that installs what is missing; undefined where nothing is. */
export function installCommand(needs: readonly Program[]): string | undefined {
  const missing = needs.filter((program) => !isInstalled(program))
  if (missing.length === 0) return undefined
  return `apt-get install ${missing.map((program) => packages[program]).join(' ')}`
}
