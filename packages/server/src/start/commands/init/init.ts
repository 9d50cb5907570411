/** `npm start -- init`: writes a folder that `docker compose up` starts the service from. */
import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { z } from 'zod'
import { exitWithLines, printLine, refuseCommand } from '../command-line.ts'
import { makeFile, makeFolder, readIfThere } from '../planned-files.ts'
import { busLines, planComposeFolder } from './compose-folder.ts'

const InitOptions = z.object({
  folder: z.string().default('steward'),
  domain: z.string().optional(),
  nats: z.boolean().default(false),
  upgrade: z.boolean().default(false),
  print: z.boolean().default(false),
})

const domainForm = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i

async function askDomain(): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return (await terminal.question('Domain at which people reach the service: ')).trim()
  } finally {
    terminal.close()
  }
}

/** The domain of a folder that was written before; undefined without one. */
const knownDomain = (folder: string): string | undefined =>
  /^STEWARD_DOMAIN=(.+)$/m.exec(readIfThere(join(folder, '.env')) ?? '')?.[1]

async function chooseDomain(folder: string, given: string | undefined): Promise<string> {
  const isAsked = process.stdin.isTTY && process.stderr.isTTY
  const domain = given ?? knownDomain(folder) ?? (isAsked ? await askDomain() : '')
  if (domain === '')
    refuseCommand('init needs --domain, such as --domain steward.example.com; or localhost')
  if (!domainForm.test(domain))
    refuseCommand('--domain must be the name of a host alone, such as steward.example.com')
  return domain
}

const nextSteps = (folder: string, domain: string): string => `
Next:

  cd ${folder} && docker compose up --detach
  docker compose logs server          # has the link of the first sign-in
  https://${domain}/console/          # the key for programs is in secrets/api-key

Store a copy of secrets/root-secret away from this machine: stored credentials are lost with it.
Your own changes belong in compose.override.yaml, which no upgrade touches.`

/** Attack: another account makes the folder beforehand, and replaces files in it later. */
function checkFolder(path: string): void {
  if (!existsSync(path)) return
  const { uid, mode } = statSync(path)
  if (uid !== process.getuid?.())
    exitWithLines([`steward: ${path} belongs to another account: name another folder by --folder.`])
  if ((mode & 0o022) !== 0)
    exitWithLines([`steward: others may write to ${path}: chmod go-w ${path}`])
}

/** Attack: another account reads it: the files in it are open, so that containers can read them. */
function checkSecretFolder(path: string): void {
  if (!existsSync(path)) return
  const { uid, mode } = statSync(path)
  if (uid !== process.getuid?.())
    exitWithLines([`steward: ${path} belongs to another account: name another folder by --folder.`])
  if ((mode & 0o077) !== 0) exitWithLines([`steward: ${path} is open to others: chmod 700 ${path}`])
}

/** Overwrites nothing, but compose.yaml and seccomp.json in an upgrade. */
export async function initCompose(given: Record<string, unknown>): Promise<void> {
  const options = InitOptions.parse(given)
  const { nats: hasBus, upgrade: isUpgrade, print: isPrinted } = options
  const folder = resolve(options.folder)
  const domain = await chooseDomain(folder, options.domain)
  checkFolder(folder)
  checkSecretFolder(join(folder, 'secrets'))
  const { folders, files } = planComposeFolder({ folder, domain, hasBus, isUpgrade })
  for (const each of folders) makeFolder(each, isPrinted)
  for (const each of files) makeFile(each, isPrinted)
  const known = knownDomain(folder)
  if (known !== undefined && known !== domain)
    printLine(`.env names another domain (${known}): change it there`)
  if (
    hasBus &&
    !/^COMPOSE_PROFILES=.*\bnats\b/m.test(readIfThere(join(folder, '.env')) ?? busLines)
  )
    printLine(`.env stays without NATS: add these lines to it\n${busLines}`)
  printLine(nextSteps(folder, domain))
}
