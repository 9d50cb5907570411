/** Whose a session's folders and its gate are on the host. */
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

type Ids = { first: number; count: number }

/** Ids that no other program gives out, where this process may use all ids of the machine. */
const high: Ids = { first: 7 << 28, count: 1 << 28 }
/** The kernel shows everyone who has no id here under this one. */
const nobody = 65_534

function mappedIds(file: 'uid_map' | 'gid_map'): Ids[] {
  const lines = readFileSync(`/proc/self/${file}`, 'utf8').trim().split('\n')
  return lines.map((line) => {
    const [first = 0, , count = 0] = line.trim().split(/\s+/).map(Number)
    return { first, count }
  })
}

/** In a user namespace of a server's own: the subordinate ids beside its root, see `enterOwnUsers`. */
function subordinateIds(): Ids | undefined {
  const [users, groups] = [mappedIds('uid_map'), mappedIds('gid_map')]
  const found = users.find(({ first, count }) => first > 0 && first + count < high.first)
  const beside = groups.find(({ first }) => first === found?.first)
  if (!found || !beside) return undefined
  const { first } = found
  return { first, count: Math.min(found.count, beside.count, nobody - first) }
}

let given: Ids | undefined

/**
 * Each session's own user on the host: the same at every start, and hardly ever shared by two. None, where the server
 * has no users to give: then it is the server's.
 */
export function sessionUser(id: string): number | undefined {
  if (process.getuid?.() !== 0) return undefined
  given ??= subordinateIds() ?? high
  const hash = createHash('sha256').update(id).digest().readUInt32LE()
  return given.first + ((hash >>> 4) % given.count)
}

/**
 * The folders were made by the server; what a session has put inside is its own already, unless it had another user then:
 * the folder itself is given last, so that one of another user's holds something to give. Follows no link.
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

/** All that lies below, which the server may have put there. Nothing of the session runs meanwhile. */
async function giveAll(folder: string, uid: number): Promise<void> {
  // By a program that knows neither names nor a longest path: names are bytes, and strangers' folders as deep as they like.
  if (readdirSync(folder, 'buffer').length > 0)
    await run('chown', ['-hR', '--', `${uid}:${uid}`, folder])
}

/** To the session's user alone. The folder above is the server's. */
export function chownSocket(socket: string, uid: number): void {
  if (!lstatSync(socket).isSocket()) throw new Error(`no socket: ${socket}`)
  chmodSync(socket, 0o600)
  lchownSync(socket, uid, uid)
}
