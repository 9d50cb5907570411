/**
 * The folder of one start of a sandbox, below the session's folder. A session may start in this process while another
 * process, which held its last sandbox, still clears that away: what two starts make never has the same path.
 */
import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Longer than a process needs to clear a sandbox away that another process has ended. */
const leftMs = 10 * 60_000

const startsOf = (own: string): string => join(own, 'starts')

export async function makeStartFolder(own: string): Promise<string> {
  const folder = join(startsOf(own), randomBytes(4).toString('hex'))
  await mkdir(folder, { recursive: true, mode: 0o755 })
  return folder
}

/** Another process may write its mark meanwhile. */
export const removeStartFolder = (folder: string): Promise<void> =>
  rm(folder, { recursive: true, force: true, maxRetries: 3 })

/**
 * Removes what dead processes have left, some time after it was seen first. Its age says nothing: a sandbox that ran for
 * hours is cleared away when another process has ended it. Call when no sandbox of the session runs.
 */
export async function removeLeftStarts(own: string, now: number): Promise<void> {
  const names = await readdir(startsOf(own)).catch(absent)
  for (const name of names ?? []) {
    const folder = join(startsOf(own), name)
    const seen = join(folder, 'left')
    const found = await stat(seen).catch(absent)
    if (!found) await mark(seen, now).catch(absent)
    else if (found.mtimeMs < now - leftMs) await removeStartFolder(folder)
  }
}

async function mark(path: string, now: number): Promise<void> {
  await writeFile(path, '')
  await utimes(path, now / 1000, now / 1000)
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
