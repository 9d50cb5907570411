/** Detects changes of working folders without archiving them. */
import { createHash } from 'node:crypto'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { workingFolders } from './checkpoints.ts'
import { settledMs } from './settled-time.ts'

/** Folders with more entries get no fingerprint: tar takes no longer than reading them all. */
const mostEntries = 500

/**
 * A hash of all names, inodes, sizes and times below the folders. The kernel sets the times of change, and no program
 * in the sandbox can set them back. Undefined when there are too many entries, a file changed just now, or a folder
 * cannot be read. When a folder is swapped for a link meanwhile, names from elsewhere go into the hash, which does not
 * reveal them.
 */
export async function computeFingerprint(
  own: string,
  names: readonly string[] = workingFolders,
): Promise<string | undefined> {
  const hash = createHash('sha256')
  // File times come from the machine's clock, not from the caller's.
  const settled = Date.now() - settledMs
  let entries = 0
  async function add(path: string): Promise<boolean> {
    const { ino, mode, size, mtimeNs, ctimeNs } = await lstat(path, { bigint: true })
    if (Number(ctimeNs / 1_000_000n) > settled || ++entries > mostEntries) return false
    hash.update(JSON.stringify([path, ...[ino, mode, size, mtimeNs, ctimeNs].map(String)]))
    if ((mode & typeMask) !== folderType) return true
    const inside = await readdir(path)
    if (entries + inside.length > mostEntries) return false
    for (const name of inside.toSorted()) if (!(await add(join(path, name)))) return false
    return true
  }
  try {
    for (const name of names) if (!(await add(join(own, name)))) return undefined
  } catch {
    // The file was removed meanwhile, or the folder belongs to another user.
    return undefined
  }
  return hash.digest('hex')
}

const typeMask = 0o170000n
const folderType = 0o040000n
