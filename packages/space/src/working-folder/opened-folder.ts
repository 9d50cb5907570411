/**
 * Steps through a folder while an untrusted program changes it. Each step starts at an open folder and follows no link.
 * A path can change its meaning between two steps; an open descriptor cannot.
 */
import { constants, openSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { open } from 'node:fs/promises'

/** Linux O_PATH: names a file without opening it for reading. */
const pathOnly = 0o10000000
const looking = pathOnly | constants.O_NOFOLLOW

/** `opendir` with names as bytes, which the types of Node do not know. */
export const asBytes = 'buffer' as BufferEncoding

/** The path of an open folder or file, which stays true when its name changes. */
export const openedPath = ({ fd }: { fd: number }): string => `/proc/self/fd/${fd}`

/** Names the folder at this path of the host; undefined when it does not exist. */
export const openFolder = (path: string): Promise<FileHandle | undefined> =>
  open(path, looking | constants.O_DIRECTORY).catch(absent)

/** Names what has this name in the folder, without reading it. `name`: as text, or as the bytes that it is. */
export async function openBelow(
  folder: FileHandle,
  name: string | Buffer,
): Promise<FileHandle | undefined> {
  const path = pathBelow(folder, name)
  return path && open(path, looking).catch(absent)
}

/** Like `openBelow`, for a thread that does nothing else. Returns a descriptor that the caller closes. */
export function openBelowSync(fd: number, name: Buffer): number | undefined {
  const path = pathBelow({ fd }, name)
  try {
    return path && openSync(path, looking)
  } catch (error) {
    return absent(error)
  }
}

/** Undefined for a name that would lead out of the folder. */
function pathBelow(folder: { fd: number }, name: string | Buffer): Buffer | undefined {
  if (name.length === 0 || name.includes('/') || name.toString() === '..') return undefined
  const bytes = typeof name === 'string' ? Buffer.from(name) : name
  return Buffer.concat([Buffer.from(`${openedPath(folder)}/`), bytes])
}

/** Names what lies at this path below the folder; undefined when it does not exist, or lies behind a link. */
export async function openAlong(
  root: FileHandle,
  parts: readonly (string | Buffer)[],
): Promise<FileHandle | undefined> {
  let at = await openBelow(root, '.')
  for (const name of parts) {
    if (!at) return undefined
    const passed = at
    try {
      at = await openBelow(passed, name)
    } finally {
      await passed.close()
    }
  }
  return at
}

/** Opens a regular file for reading. Check before that it is one: a pipe or a device would hold the opener. */
export const openToRead = (file: FileHandle): Promise<FileHandle> =>
  open(openedPath(file), constants.O_RDONLY)

export const isDenied = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException).code === 'EACCES'

function absent(error: unknown): undefined {
  const { code } = error as NodeJS.ErrnoException
  // ENAMETOOLONG: a name that is not UTF-8 becomes longer when it is decoded.
  if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ENAMETOOLONG') return undefined
  throw error
}
