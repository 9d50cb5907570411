/** The host user that owns a session's folders and its gate's socket. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lchownSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
} from 'node:fs'
import { promisify } from 'node:util'
import type { SandboxSpec } from './sandbox.ts'

const run = promisify(execFile)

type IdRange = { first: number; count: number }

/** Ids that no other program assigns, for a process that may use all ids of the machine. */
const high: IdRange = { first: 7 << 28, count: 1 << 28 }
/** The kernel shows this id for every user without a mapping. */
const nobody = 65_534

function mappedIds(file: 'uid_map' | 'gid_map'): IdRange[] {
  const lines = readFileSync(`/proc/self/${file}`, 'utf8').trim().split('\n')
  return lines.map((line) => {
    const [first = 0, , count = 0] = line.trim().split(/\s+/).map(Number)
    return { first, count }
  })
}

/** The subordinate ids besides root, when the server runs in a user namespace; see `enterOwnUsers`. */
function subordinateIds(): IdRange | undefined {
  const [users, groups] = [mappedIds('uid_map'), mappedIds('gid_map')]
  const found = users.find(({ first, count }) => first > 0 && first + count < high.first)
  const beside = groups.find(({ first }) => first === found?.first)
  if (!found || !beside) return undefined
  const { first } = found
  return { first, count: Math.min(found.count, beside.count, nobody - first) }
}

let given: IdRange | undefined

/**
 * The host user of a session: the same at every start, and rarely shared by two sessions. Undefined when the server may
 * use no other users; its own user then runs the sandbox.
 */
export function sessionUser(id: string): number | undefined {
  if (process.getuid?.() !== 0) return undefined
  given ??= subordinateIds() ?? high
  const hash = createHash('sha256').update(id).digest().readUInt32LE()
  return given.first + ((hash >>> 4) % given.count)
}

/**
 * Gives the folders, which the server made, to the session's user. Their contents already belong to that user, unless
 * the session had another user before. Each folder is given after its contents, so that an interrupted run is repeated.
 * Follows no link.
 */
export async function chownFolders(spec: SandboxSpec, uid: number | undefined): Promise<void> {
  const written = spec.mounts.filter(({ access }) => access === 'write').map(({ source }) => source)
  for (const folder of [spec.workspace, spec.outputs, ...written]) {
    const opened = openSync(folder, constants.O_DIRECTORY | constants.O_NOFOLLOW)
    try {
      if (uid !== undefined) {
        const isGiven = fstatSync(opened).uid === uid && !spec.isPrefilled
        if (!isGiven || written.includes(folder)) await giveAll(folder, uid)
        fchownSync(opened, uid, uid)
      }
      fchmodSync(opened, 0o700)
    } finally {
      closeSync(opened)
    }
  }
}

/** Gives everything below a folder, which the server may have written. Nothing of the session runs meanwhile. */
async function giveAll(folder: string, uid: number): Promise<void> {
  // Uses `chown`, which has no limits on names and depth: names are bytes, and a session's folders can be very deep.
  if (readdirSync(folder, 'buffer').length > 0)
    await run('chown', ['-hR', '--', `${uid}:${uid}`, folder])
}

/** Gives the socket to the session's user. The folder above stays the server's. */
export function chownSocket(socket: string, uid: number): void {
  if (!lstatSync(socket).isSocket()) throw new Error(`no socket: ${socket}`)
  chmodSync(socket, 0o600)
  lchownSync(socket, uid, uid)
}
