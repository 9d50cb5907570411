/** Whose a session's folders and its gate are on the host. */
import { createHash } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  lchownSync,
  lstatSync,
  openSync,
  readdirSync,
} from 'node:fs'
import { join } from 'node:path'
import type { SandboxSpec } from './sandbox.ts'

/**
 * Each session's own user on the host: the same at every start, in a range that no one else hands out, and
 * hardly ever shared by two. None, where the server is not root: then it is the server's.
 */
export function sessionUser(id: string): number | undefined {
  if (process.getuid?.() !== 0) return undefined
  const hash = createHash('sha256').update(id).digest().readUInt32LE()
  return (7 << 28) + (hash >>> 4)
}

/** The folders were made by the server; what a session has put inside is its own already. Follows no link. */
export function giveFolders(spec: SandboxSpec, uid: number | undefined): void {
  const written = spec.mounts.filter(({ access }) => access === 'write').map(({ source }) => source)
  for (const folder of [spec.workspace, spec.outputs, ...written]) {
    const opened = openSync(folder, constants.O_DIRECTORY | constants.O_NOFOLLOW)
    try {
      if (uid !== undefined) fchownSync(opened, uid, uid)
      fchmodSync(opened, 0o700)
    } finally {
      closeSync(opened)
    }
  }
  if (uid === undefined) return
  const filled = spec.isLaidOut ? [spec.workspace, spec.outputs] : []
  for (const folder of [...written, ...filled]) giveAll(folder, uid)
}

/** All that lies below, which the server may have put there. Nothing of the session runs meanwhile. */
function giveAll(folder: string, uid: number): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    lchownSync(path, uid, uid)
    if (entry.isDirectory()) giveAll(path, uid)
  }
}

/** To the session's user alone. The folder above is the server's. */
export function giveSocket(socket: string, uid: number): void {
  if (!lstatSync(socket).isSocket()) throw new Error(`no socket: ${socket}`)
  chmodSync(socket, 0o600)
  lchownSync(socket, uid, uid)
}
