/** The folder of a trial: its secrets, and the server that `try` has started with it. */
import { randomBytes } from 'node:crypto'
import {
  fchmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { findProcessStart } from '@steward/base/process-start.ts'
import { exitWithLines, say } from './command-line.ts'

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT'

/** The text of a file; undefined without one, and for an empty one. Throws for a file that cannot be read. */
function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim() || undefined
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/**
 * Makes the folder. Attack: another account makes it beforehand, with an API key and a root secret that it knows. So a
 * folder of another account is refused.
 */
export function makeTrialFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o711 })
  const { uid } = statSync(folder)
  if (process.getuid !== undefined && uid !== process.getuid())
    exitWithLines([
      `steward: ${folder} belongs to another account: name a folder of your own by DATA_DIR.`,
    ])
}

/** A generated secret is kept for the next start: what it sealed cannot be read without it. */
export function keepSecret(folder: string, name: string, prefix = ''): string {
  const path = join(folder, name)
  const known = readText(path)
  if (known !== undefined) return known
  const secret = prefix + randomBytes(32).toString('hex')
  // An empty file may be there, with other rights.
  rmSync(path, { force: true })
  writeFileSync(path, `${secret}\n`, { mode: 0o600, flag: 'wx' })
  say(`Wrote a new ${name} to ${path}.`)
  return secret
}

/** A process by its id and its start, because ids are used again. */
type StartedProcess = { pid: number; start: string }

/** Undefined for a process that has ended. */
export function findProcess(pid: number): StartedProcess | undefined {
  const start = findProcessStart(pid)
  return start === undefined ? undefined : { pid, start }
}

/** The process that a file names by pid and start, while it lives; and what the file says behind these. */
function findRecorded(path: string): (StartedProcess & { rest: string }) | undefined {
  const [pid, boot, ticks, rest = ''] = (readText(path) ?? '').split(' ')
  const found = findProcess(Number(pid) || 0)
  return found?.start === `${boot} ${ticks}` ? { ...found, rest } : undefined
}

const recordText = ({ pid, start }: StartedProcess, rest = ''): string =>
  `${pid} ${start} ${rest}`.trimEnd()

const recordOf = (folder: string): string => join(folder, 'server.pid')

/** Records a server that listens on this port. */
export function recordServer(folder: string, server: StartedProcess, port: string): void {
  writeFileSync(recordOf(folder), `${recordText(server, port)}\n`, { mode: 0o600 })
}

/** The server that `try` has started with this folder, while it lives. */
export function findServer(folder: string): (StartedProcess & { port: string }) | undefined {
  const found = findRecorded(recordOf(folder))
  return found && { pid: found.pid, start: found.start, port: found.rest }
}

/** Another `try` may have started a server meanwhile. */
export function forgetServer(folder: string, server: StartedProcess): void {
  if (readText(recordOf(folder))?.startsWith(`${recordText(server)} `))
    rmSync(recordOf(folder), { force: true })
}

/** One `try` at a time uses a folder: two would make two secrets, and take each other's server for their own. */
export function lockTrialFolder(folder: string): void {
  const path = join(folder, 'try.lock')
  const other = findRecorded(path)
  if (other)
    exitWithLines([`steward: Another try (process ${other.pid}) uses ${folder}: wait for its end.`])
  rmSync(path, { force: true })
  const own = { pid: process.pid, start: findProcessStart(process.pid) ?? '' }
  writeFileSync(path, `${recordText(own)}\n`, { mode: 0o600, flag: 'wx' })
  process.once('exit', () => rmSync(path, { force: true }))
}

/**
 * Opens the log of the server for what it prints from now on. The log has the link of the first sign-in, and codes of
 * people where no mail server is set.
 */
export function openTrialLog(path: string): { file: number; printed: () => string } {
  const file = openSync(path, 'a+', 0o600)
  fchmodSync(file, 0o600)
  const from = fstatSync(file).size
  const printed = () => {
    const bytes = Buffer.alloc(fstatSync(file).size - from)
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, from)).toString()
  }
  return { file, printed }
}
