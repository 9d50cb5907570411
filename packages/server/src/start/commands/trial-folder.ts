/** The folder of a trial: its secrets, and the server that `try` has started with it. */
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
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

/** A process by its id and the time of its start, because ids are used again. */
type StartedProcess = { pid: number; startedAt: string }

/** Undefined for a process that has ended, also where nobody has waited for it. */
export function findProcess(pid: number): StartedProcess | undefined {
  if (pid <= 0) return undefined
  try {
    process.kill(pid, 0)
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    // The 22nd field of all. proc(5)
    return state === 'Z' ? undefined : { pid, startedAt: fields[18] ?? '' }
  } catch {
    return undefined
  }
}

const recordOf = (folder: string): string => join(folder, 'server.pid')

/** Records a server that listens on this port. */
export function recordServer(folder: string, { pid, startedAt }: StartedProcess, port: string) {
  writeFileSync(recordOf(folder), `${pid} ${startedAt} ${port}\n`, { mode: 0o600 })
}

/** The server that `try` has started with this folder, while it lives. */
export function findServer(folder: string): (StartedProcess & { port: string }) | undefined {
  const [pid, startedAt, port = ''] = (readText(recordOf(folder)) ?? '').split(' ')
  const found = findProcess(Number(pid) || 0)
  return found && found.startedAt === startedAt ? { ...found, port } : undefined
}

/** Another `try` may have started a server meanwhile. */
export function forgetServer(folder: string, { pid, startedAt }: StartedProcess): void {
  if (readText(recordOf(folder))?.startsWith(`${pid} ${startedAt} `))
    rmSync(recordOf(folder), { force: true })
}

/** One `try` at a time uses a folder: two would make two secrets, and take each other's server for their own. */
export function lockTrialFolder(folder: string): void {
  const path = join(folder, 'try.lock')
  const own = findProcess(process.pid)
  const [pid, startedAt] = (readText(path) ?? '').split(' ')
  const other = findProcess(Number(pid) || 0)
  if (other && other.startedAt === startedAt)
    exitWithLines([`steward: Another try (process ${other.pid}) uses ${folder}: wait for its end.`])
  rmSync(path, { force: true })
  writeFileSync(path, `${process.pid} ${own?.startedAt ?? ''}\n`, { mode: 0o600, flag: 'wx' })
  process.once('exit', () => rmSync(path, { force: true }))
}

/** The log has the link of the first sign-in, and codes of people where no mail server is set. */
export function openTrialLog(path: string): void {
  writeFileSync(path, '', { mode: 0o600, flag: 'a' })
  chmodSync(path, 0o600)
}

export const readLog = (path: string): string => readText(path) ?? ''
