/** Folders that sessions keep on this machine between two work items, below the worker's folder. */
import { mkdir, readdir, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { removeTree } from '@steward/sandbox/remove-tree.ts'

export type SessionFolders = {
  folder: string
  workspace: string
  outputs: string
  /** `/mnt/user` of the session. */
  user: string
  memory: string
  /** The session never writes to this folder. */
  inputs: string
}

/** Creates the folders of a session without a checkpoint. */
export async function makeEmpty({ workspace, outputs, user }: SessionFolders): Promise<void> {
  for (const each of [workspace, outputs, user]) await mkdir(each, { recursive: true })
}

export type Folders = {
  /**
   * Creates the other folders, but not workspace, outputs and user. Memory stores are empty, as the official worker
   * requires.
   */
  of(session: string): Promise<SessionFolders>
  forget(session: string): Promise<void>
  /** Removes folders that no work item has used for `olderThanMs`. */
  removeUnused(olderThanMs: number, now: number): Promise<void>
}

const plain = /^[\w-]{1,128}$/

export function foldersBelow(dir: string): Folders {
  const sessions = join(dir, 'sessions')
  const folderOf = (session: string): string => {
    if (!plain.test(session)) throw new Error('a session id that is no folder name')
    return join(sessions, session)
  }
  return {
    async of(session) {
      const folder = folderOf(session)
      const [workspace, outputs] = [join(folder, 'workspace'), join(folder, 'outputs')]
      const [memory, inputs] = [join(folder, 'memory'), join(folder, 'inputs')]
      const user = join(folder, 'user')
      await removeTree(memory)
      for (const each of [memory, inputs]) await mkdir(each, { recursive: true })
      const now = new Date()
      await utimes(folder, now, now)
      return { folder, workspace, outputs, user, memory, inputs }
    },
    forget: (session) => removeTree(folderOf(session)),
    async removeUnused(olderThanMs, now) {
      await mkdir(sessions, { recursive: true, mode: 0o700 })
      for (const name of await readdir(sessions)) {
        const folder = join(sessions, name)
        // Another worker may remove the folder at the same time.
        const found = await stat(folder).catch(() => undefined)
        if (found && found.mtimeMs < now - olderThanMs) await removeTree(folder)
      }
    },
  }
}
