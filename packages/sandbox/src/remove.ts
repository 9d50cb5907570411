/** The end of folders: of strangers' work, and of what nobody uses any more. */
import { execFile } from 'node:child_process'
import { rename, rm, stat } from 'node:fs/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

/**
 * A folder and all in it, which strangers may have made as deep and as closed as they liked. Follows no link; nothing
 * runs in it any more. Nothing happens where it is not there.
 */
export async function removeTree(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true })
  } catch {
    // Paths in it may be longer than a call takes, which these programs go around.
    await run('chmod', ['-fR', 'u+rwX', '--', folder]).catch(() => {})
    await run('rm', ['-rf', '--', folder])
  }
}

/**
 * For folders that are touched by whoever begins to use them, in this process or another: none goes that was touched
 * since. `away` is a free name on the same file system, which nobody looks for.
 */
export async function removeUnused(folder: string, away: string, since: number): Promise<void> {
  if (!(await moveAway(folder, away))) return
  // Another process may come upon it there, and take it for one of those that are left.
  const found = await stat(away).catch(absent)
  if (!found) return
  if (found.mtimeMs <= since) return removeTree(away)
  // Whoever came meanwhile may have made it anew.
  await rename(away, folder).catch(async (error: NodeJS.ErrnoException) => {
    if (!/^(ENOTEMPTY|EEXIST|ENOENT)$/.test(error.code ?? '')) throw error
    await removeTree(away)
  })
}

/** False where it is not there. */
export const moveAway = (folder: string, away: string): Promise<boolean> =>
  rename(folder, away).then(() => true, absent)

function absent(error: unknown): false {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
  throw error
}
