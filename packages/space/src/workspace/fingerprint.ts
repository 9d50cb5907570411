/** Tells whether working folders have changed, without an archive of them. */
import { createHash } from 'node:crypto'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { workingFolders } from './keep.ts'
import { settledMs } from './settled-time.ts'

/** Folders with more entries are archived instead: their tar takes no longer than this look. */
const mostEntries = 500

/**
 * A hash of all names, inodes, sizes and times below the folders. The kernel sets the times of change, and no program in the sandbox can set them
 * back. Undefined where nothing can be told: too many entries, a change of this moment, or a folder that cannot be read.
 * A folder may be swapped for a link meanwhile: then names elsewhere go into the hash, and nothing of them comes out.
 */
export async function fingerprintOf(
  own: string,
  names: readonly string[] = workingFolders,
): Promise<string | undefined> {
  const hash = createHash('sha256')
  // The time of the file system is that of the machine, whatever clock the caller has.
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
    // A file that was removed meanwhile, or a folder of another user.
    return undefined
  }
  return hash.digest('hex')
}

const typeMask = 0o170000n
const folderType = 0o040000n
