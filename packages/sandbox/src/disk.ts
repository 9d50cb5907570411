/** Disk space that folders use, and free space on their disk. */
import { execFile } from 'node:child_process'
import { statfs } from 'node:fs/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

export type DiskSpace = { bytes: number; files: number }

/** For a server that is not root: counts files that a session has closed to other users. */
const asOwner = ['/usr/bin/unshare', '--user', '--map-root-user', '--']

/** Discards error messages: a session that removes files meanwhile can cause any number of them. */
const quietly = ['/bin/sh', '-c', 'exec "$@" 2>/dev/null', 'sh']

/** The last line of `du`. `du` works at any depth of folders and follows no link. */
async function total(option: string, folders: readonly string[]): Promise<number> {
  const du = [...quietly, 'du', '-sxc', option, '--', ...folders]
  const ways = process.getuid?.() === 0 ? [du] : [[...asOwner, ...du], du]
  for (const [program = '', ...words] of ways) {
    // `du` fails for files that vanish meanwhile, and still prints the total.
    const { stdout } = await run(program, words, { maxBuffer: 1 << 20 }).catch(
      (error: { stdout?: string }) => ({ stdout: error.stdout ?? '' }),
    )
    const found = /^(\d+)\ttotal$/m.exec(stdout)
    if (found) return Number(found[1])
  }
  throw new Error('the size of folders could not be found out')
}

/** A missing folder counts as 0. */
export const bytesBelow = async (folders: readonly string[]): Promise<number> =>
  (await total('-k', folders)) * 1024

export async function spaceBelow(folders: readonly string[]): Promise<DiskSpace> {
  const [bytes, files] = await Promise.all([bytesBelow(folders), total('--inodes', folders)])
  return { bytes, files }
}

/** A file system that counts no files has room for any number. */
export async function readFreeSpace(folder: string): Promise<DiskSpace> {
  const { bavail, bsize, files, ffree } = await statfs(folder)
  return { bytes: bavail * bsize, files: files === 0 ? Infinity : ffree }
}

export const formatMegabytes = (bytes: number): string => `${Math.floor(bytes / 2 ** 20)} MB`

/** Says which of bytes and files is below its minimum on the disk of a folder; undefined when neither is. */
export async function spaceProblem(
  folder: string,
  floor: DiskSpace,
  freeAt = readFreeSpace,
): Promise<string | undefined> {
  const free = await freeAt(folder)
  if (free.bytes < floor.bytes)
    return `the disk has less than ${formatMegabytes(floor.bytes)} left: the operator has to free some`
  if (free.files < floor.files)
    return `the disk has room for less than ${floor.files} files: the operator has to free some`
  return undefined
}
