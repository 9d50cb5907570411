/** Removes folders: trees that sessions have written, and folders that were unused for long. */
import { execFile } from 'node:child_process'
import { rename, rm, stat } from 'node:fs/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

/**
 * Removes a folder with everything in it, at any depth and with any permissions. Follows no link. Nothing may run in
 * the folder any more. A missing folder is no error.
 */
export async function removeTree(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true })
  } catch {
    // Paths may be longer than a system call takes. These programs can handle them.
    await run('chmod', ['-fR', 'u+rwX', '--', folder]).catch(() => {})
    await run('rm', ['-rf', '--', folder])
  }
}

/**
 * Removes a folder unless it was used since `since`. Users of such folders touch them first, in this process or
 * another. `away`: an unused name on the same file system.
 */
export async function removeUnused(folder: string, away: string, since: number): Promise<void> {
  if (!(await moveAway(folder, away))) return
  // Another process may find the folder there and remove it as a leftover.
  const found = await stat(away).catch(absent)
  if (!found) return
  if (found.mtimeMs <= since) return removeTree(away)
  // A new user may have created the folder again meanwhile.
  await rename(away, folder).catch(async (error: NodeJS.ErrnoException) => {
    if (!/^(ENOTEMPTY|EEXIST|ENOENT)$/.test(error.code ?? '')) throw error
    await removeTree(away)
  })
}

/** Returns false when the folder does not exist. */
export const moveAway = (folder: string, away: string): Promise<boolean> =>
  rename(folder, away).then(() => true, absent)

function absent(error: unknown): false {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
  throw error
}
