/** Temporary folders of a process. When the process was killed, the next worker removes them. */
import { once } from 'node:events'
import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree } from '@steward/sandbox/remove-tree.ts'

export type TemporaryFolder = { path: string; remove(): Promise<void> }

/**
 * A listening socket in the folder marks it as used. The socket lives exactly as long as its process, in any pid
 * namespace; a pid would be ambiguous.
 */
const sign = 'alive'
const own = /^steward-(door|out|inputs)-\w{6}$/
/** A folder is created a moment before its socket. */
const youngMs = 60_000

export async function temporaryFolder(
  kind: 'door' | 'out' | 'inputs',
  parent = tmpdir(),
): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(parent, `steward-${kind}-`))
  const server = createServer((connection) => connection.destroy()).unref()
  server.listen(join(path, sign))
  await once(server, 'listening')
  return {
    path,
    async remove() {
      server.close()
      await rm(path, { recursive: true, force: true })
    },
  }
}

/** Removes folders of this user whose process has ended. Returns their names. */
export async function removeLeftovers(now: number, parent = tmpdir()): Promise<string[]> {
  const removed: string[] = []
  for (const name of await readdir(parent)) {
    const path = join(parent, name)
    if (!own.test(name) || !(await isLeft(path, now))) continue
    await removeTree(path)
    removed.push(name)
  }
  return removed
}

async function isLeft(path: string, now: number): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined)
  if (!found?.isDirectory() || found.uid !== process.getuid?.()) return false
  const connection = connect(join(path, sign))
  const code = await new Promise<string | undefined>((resolve) => {
    connection.once('connect', () => resolve(undefined))
    connection.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''))
  })
  connection.destroy()
  return code === 'ECONNREFUSED' || (code === 'ENOENT' && found.mtimeMs < now - youngMs)
}
