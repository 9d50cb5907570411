/** `/mnt/user`: a folder besides the workspace that a session writes to, and that is kept with the workspace. */
import { mkdir } from 'node:fs/promises'
import type { Furnished } from '../furnished.ts'

/** `source`: the folder's path on this host. */
export async function furnishUser(source: string): Promise<Furnished> {
  await mkdir(source, { recursive: true })
  return { mounts: [{ source, path: '/mnt/user', access: 'write' }] }
}
