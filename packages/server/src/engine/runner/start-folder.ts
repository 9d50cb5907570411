/**
 * The folder of one start of a sandbox, below the session's folder. A session may start in this process while another
 * process, which held its last sandbox, still clears that away: what two starts make never has the same path.
 */
import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Longer than a process needs to clear a sandbox away that another process has ended. */
const leftMs = 10 * 60_000

const startsOf = (own: string): string => join(own, 'starts')

export async function makeStartFolder(own: string): Promise<string> {
  const folder = join(startsOf(own), randomBytes(4).toString('hex'))
  await mkdir(folder, { recursive: true, mode: 0o755 })
  return folder
}

export const removeStartFolder = (folder: string): Promise<void> =>
  rm(folder, { recursive: true, force: true })

/** Removes what dead processes have left. Call when no sandbox of the session runs. */
export async function removeLeftStarts(own: string, now: number): Promise<void> {
  const names = await readdir(startsOf(own)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  for (const name of names) {
    const folder = join(startsOf(own), name)
    const found = await stat(folder).catch(() => undefined)
    if (found && found.mtimeMs < now - leftMs) await removeStartFolder(folder)
  }
}
