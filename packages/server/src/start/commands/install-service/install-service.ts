/** `npm start -- install-service`: the account, the folders, the settings and the systemd unit of a server. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isBuilt, serverCommand } from '@steward/base/own-command.ts'
import { z } from 'zod'
import { exitWithLines, printLine, refuseCommand } from '../command-line.ts'
import type { PlannedFile } from '../planned-files.ts'
import { makeFile, makeFolder, readIfThere } from '../planned-files.ts'
import type { AccountStep } from './account.ts'
import { missingAccountSteps, takeStep } from './account.ts'
import type { UnitProgram } from './unit.ts'
import { quoteForUnit, settingsFile, settingsText, unitFile, unitText } from './unit.ts'

const InstallOptions = z.object({
  url: z.string().optional(),
  root: z.string().default(''),
  force: z.boolean().default(false),
  print: z.boolean().default(false),
})
type InstallOptions = z.infer<typeof InstallOptions>

const checkout = join(import.meta.dirname, '../../../../../..')

/** How this program is started: from a package, or from a clone with a Node of its own. */
function ownUnitProgram(): UnitProgram {
  const node = '--max-semi-space-size=8'
  const quoted = (path = '') => quoteForUnit(path)
  if (isBuilt)
    return { start: `${quoted(process.execPath)} ${node} ${quoted(process.argv[1])} start` }
  const own = join(checkout, 'node_modules/.bin/node')
  const program = existsSync(own) ? own : process.execPath
  return {
    start: `${quoted(program)} ${node} packages/server/src/main.ts`,
    workingFolder: checkout.replaceAll('%', '%%'),
  }
}

/** The unit hides these folders from the server. */
const hidden = /^\/(home|root|run\/user|tmp|var\/tmp)\//

function checkProgram({ start }: UnitProgram): void {
  const paths = start.split(' ').filter((word) => word.startsWith('/'))
  const found = paths.find((path) => hidden.test(path))
  if (found !== undefined)
    exitWithLines([
      `steward: ${found} is where the service sees nothing (ProtectHome, PrivateTmp): install Node and Steward for all accounts, such as below /opt.`,
    ])
}

function checkMachine({ root, print }: InstallOptions): void {
  if (print || root !== '') return
  if (process.getuid?.() !== 0)
    exitWithLines([
      `steward: install-service makes an account and a unit, which root alone may: sudo ${serverCommand} install-service; or say --print to see what it would do.`,
    ])
  if (!existsSync('/run/systemd/system'))
    exitWithLines([
      'steward: systemd does not run here: start the server by the means of your system (docs/production.md), or say --root <folder> to write the files below a folder.',
    ])
}

function makeAccount(isPrinted: boolean): void {
  const steps: AccountStep[] = missingAccountSteps()
  if (steps.length === 0) printLine('unchanged the account steward')
  for (const step of steps) {
    if (!isPrinted) takeStep(step)
    const words = step.command.join(' ')
    printLine(isPrinted ? `would make ${step.about}: ${words}` : `made ${step.about}`)
  }
}

/** The address for new settings. Settings that are there have their own. */
function publicUrl(url: string | undefined, isKnown: boolean): string {
  if (url === undefined && isKnown) return ''
  if (url === undefined)
    return refuseCommand(
      'install-service needs --url, where people reach the service, such as --url https://steward.example.com',
    )
  if (!URL.canParse(url) || !/^https?:\/\/[^\s/]+\/?$/.test(url))
    return refuseCommand('--url must be an address alone, such as https://steward.example.com')
  return url.replace(/\/$/, '')
}

const keptUnit = (path: string): string[] => [
  `steward: ${path} is another one than this version has, and stays. What you have changed belongs in a file of its own:`,
  '  systemctl edit steward, and then install-service --force, which replaces the unit and keeps that file',
  `To see the unit of this version: ${serverCommand} install-service --print`,
]

const nextSteps = `
Next:

  systemctl enable --now steward
  curl --retry 30 --retry-delay 1 --retry-connrefused http://127.0.0.1:8787/readyz

Store a copy of PLATFORM_ROOT_SECRET away from this machine: stored credentials are lost with it.
docs/production.md continues with TLS.`

/** Overwrites nothing, but a unit with `--force`. A second run changes nothing. */
export async function installService(given: Record<string, unknown>): Promise<void> {
  const options = InstallOptions.parse(given)
  const { root, force, print: isPrinted } = options
  checkMachine(options)
  const program = ownUnitProgram()
  const isHere = root === ''
  if (isHere && !isPrinted) checkProgram(program)
  const settings = { path: root + settingsFile, mode: 0o600 }
  const known = readIfThere(settings.path)
  const url = publicUrl(options.url, known !== undefined)
  if (isHere) makeAccount(isPrinted)
  const folders = [settings.path, root + unitFile].map(dirname)
  for (const path of folders) makeFolder({ path, mode: 0o755 }, isPrinted)
  makeFile({ ...settings, text: known ?? settingsText(url) }, isPrinted)
  const unit: PlannedFile = {
    path: root + unitFile,
    mode: 0o644,
    isReplaced: force,
    text: unitText(program),
  }
  const isChanged = makeFile(unit, isPrinted)
  if (isPrinted) {
    printLine(`\n${unit.text}`)
    return
  }
  if (readIfThere(unit.path) !== unit.text) exitWithLines(keptUnit(unit.path))
  if (isHere && isChanged) execFileSync('systemctl', ['daemon-reload'], { stdio: 'inherit' })
  printLine(nextSteps)
}
