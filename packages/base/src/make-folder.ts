/** A folder that an operator names, with those above it. */
import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Like `mkdir` with `recursive`, which never ends where the file system makes no folders and says that the one above
 * does not exist, such as /proc. Rejects with the error of the folder that cannot be made.
 */
export async function makeFolder(path: string, mode: number): Promise<void> {
  try {
    await makeOne(path, mode)
  } catch (error) {
    const above = dirname(path)
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || above === path) throw error
    await makeFolder(above, mode)
    await makeOne(path, mode)
  }
}

async function makeOne(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, { mode })
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === 'EEXIST'
    if (!isThere || !(await stat(path)).isDirectory()) throw error
  }
}
