/** `/mnt/user`: a folder besides the workspace that a session writes to, and that is kept with the workspace. */
import { mkdir } from 'node:fs/promises'
import type { MountedKind } from '../mounted-kinds.ts'

/** `source`: the folder's path on this host. */
export async function mountUser(source: string): Promise<MountedKind> {
  await mkdir(source, { recursive: true })
  return { mounts: [{ source, path: '/mnt/user', access: 'write' }] }
}
