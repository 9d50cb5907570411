/** `/mnt/user`: a second folder that a session writes to; checkpoints hold it together with the working folder. */
import { mkdir } from 'node:fs/promises'
import type { MountedKind } from '../mounted-kinds.ts'

/** `source`: the folder's path on this host. */
export async function mountUser(source: string): Promise<MountedKind> {
  await mkdir(source, { recursive: true })
  return { mounts: [{ source, path: '/mnt/user', access: 'write' }] }
}
