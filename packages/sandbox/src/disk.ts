/** What folders take on their disk, and what is free there. */
import { execFile } from 'node:child_process'
import { statfs } from 'node:fs/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

export type DiskSpace = { bytes: number; files: number }

/** For whoever is not root: what a session has closed to others and itself counts too. */
const asOwner = ['/usr/bin/unshare', '--user', '--map-root-user', '--']

/** Without its complaints, of which a session that removes files meanwhile can make more than anyone keeps. */
const quietly = ['/bin/sh', '-c', 'exec "$@" 2>/dev/null', 'sh']

/** The last line of `du`, which goes through folders as deep as they like, and follows no link. */
async function total(option: string, folders: readonly string[]): Promise<number> {
  const du = [...quietly, 'du', '-sxc', option, '--', ...folders]
  const ways = process.getuid?.() === 0 ? [du] : [[...asOwner, ...du], du]
  for (const [program = '', ...words] of ways) {
    // It fails for what vanishes meanwhile, and says the rest.
    const { stdout } = await run(program, words, { maxBuffer: 1 << 20 }).catch(
      (error: { stdout?: string }) => ({ stdout: error.stdout ?? '' }),
    )
    const found = /^(\d+)\ttotal$/m.exec(stdout)
    if (found) return Number(found[1])
  }
  throw new Error('the size of folders could not be found out')
}

/** Folders that are not there take nothing. */
export const bytesBelow = async (folders: readonly string[]): Promise<number> =>
  (await total('-k', folders)) * 1024

export async function spaceBelow(folders: readonly string[]): Promise<DiskSpace> {
  const [bytes, files] = await Promise.all([bytesBelow(folders), total('--inodes', folders)])
  return { bytes, files }
}

/** File systems that count no files have room for any number. */
export async function freeSpaceOf(folder: string): Promise<DiskSpace> {
  const { bavail, bsize, files, ffree } = await statfs(folder)
  return { bytes: bavail * bsize, files: files === 0 ? Infinity : ffree }
}

export const megabytes = (bytes: number): string => `${Math.floor(bytes / 2 ** 20)} MB`

/** Which of the two is less on the disk of a folder than it must be; undefined where neither is. */
export async function lackOf(
  folder: string,
  floor: DiskSpace,
  freeAt = freeSpaceOf,
): Promise<string | undefined> {
  const free = await freeAt(folder)
  if (free.bytes < floor.bytes)
    return `the disk has less than ${megabytes(floor.bytes)} left: the operator has to free some`
  if (free.files < floor.files)
    return `the disk has room for less than ${floor.files} files: the operator has to free some`
  return undefined
}
