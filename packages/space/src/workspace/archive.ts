/** Folders as a stream and back, by the tar of the machine, which follows no link and knows what has changed. */
import type { ChildProcess, ChildProcessByStdio } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib'
import { confined } from './confined.ts'

const mostErrorChars = 2_000
/** The session's processes go on: files may change or go while they are read. */
const changedWhileRead = 1
/** Four times as fast as the usual 16 KiB. */
const chunkSize = 256 * 1024
const level = { chunkSize, params: { [constants.ZSTD_c_compressionLevel]: 1 } }

type Ended = { code: number | null; said: string }

async function endOf(child: ChildProcessByStdio<Writable | null, Readable | null, Readable>) {
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (said.length < mostErrorChars) said += text
  })
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, said: said.trim() } satisfies Ended
}

/** With what it has begun, which may not be bound to its life yet. */
function kill({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return
  process.kill(-pid, 'SIGKILL')
}

const env = { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8' }

/**
 * The folders of these names below `folder`. What was there when `snapshot` was written is left out, and the file is
 * written anew; without that file everything is in. Throws when something could not be read.
 */
export async function* packed(
  folder: string,
  names: readonly string[],
  snapshot: string,
): AsyncGenerator<Uint8Array> {
  const options = ['--create', '--file=-', `--directory=${folder}`, '--format=gnu', '--sparse']
  const what = [`--listed-incremental=${snapshot}`, '--no-check-device', '--mode=ug-s']
  await writeFile(snapshot, '', { flag: 'a' })
  const seen = { reads: names.map((name) => join(folder, name)), writes: [snapshot] }
  const [program, ...given] = await confined(seen, ['tar', ...options, ...what, '--', ...names])
  const child = spawn(program, given, {
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const end = endOf(child)
  const zstd = createZstdCompress(level)
  const piped = pipeline(child.stdout, zstd)
  try {
    yield* zstd
    await piped
    const { code, said } = await end
    if (code !== 0 && code !== changedWhileRead) throw new Error(`tar: ${said || `code ${code}`}`)
  } finally {
    kill(child)
    await Promise.allSettled([piped, end])
  }
}

/** Into a folder: the whole first, then what changed, which removes what had gone by then. */
export async function unpack(folder: string, archive: AsyncIterable<Uint8Array>): Promise<void> {
  const options = ['--extract', '--file=-', `--directory=${folder}`, '--preserve-permissions']
  // It reads to the end of its input with --ignore-zeros: it must not go before everything was given to it.
  const how = ['--no-same-owner', '--ignore-zeros', '--listed-incremental=/dev/null']
  const seen = { reads: [], writes: [folder] }
  const [program, ...given] = await confined(seen, ['tar', ...options, ...how])
  const child = spawn(program, given, {
    env,
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  const end = endOf(child)
  try {
    await pipeline(archive, createZstdDecompress({ chunkSize }), child.stdin)
  } catch (error) {
    kill(child)
    await end
    throw error
  }
  const { code, said } = await end
  if (code !== 0) throw new Error(`tar: ${said || `code ${code}`}`)
}

/**
 * Whether a folder of the later snapshot was another one in the earlier. Such a move is in the archive between them,
 * and is done by its path before anything else is: through a link that was there, to wherever that leads.
 */
export async function isMoved(earlier: string, later: string): Promise<boolean> {
  const before = new Map((await foldersIn(earlier)).map(({ inode, path }) => [inode, path]))
  return (await foldersIn(later)).some(({ inode, path }) => (before.get(inode) ?? path) !== path)
}

/** A version, a time of two numbers, and of each folder six fields and its entries. Appendix D of tar's manual. */
async function foldersIn(snapshot: string): Promise<{ inode: string; path: string }[]> {
  const fields = (await readFile(snapshot, 'latin1')).split('\0')
  const folders: { inode: string; path: string }[] = []
  for (let at = 2; at + 5 < fields.length; at += 2) {
    const [inode = '', path = ''] = fields.slice(at + 4, at + 6)
    folders.push({ inode, path })
    at += 6
    while (at < fields.length && fields[at] !== '') at++
  }
  return folders
}
