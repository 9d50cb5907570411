/** Turns folders into a stream and back, by the machine's tar, which follows no link and can archive changes alone. */
import type { ChildProcess, ChildProcessByStdio } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib'
import { expectStarted } from '@steward/base/started-program.ts'
import { awaitLater } from '@steward/base/await-later.ts'
import { runOnceEach } from '@steward/base/shared-runs.ts'
import { confineCommand } from './confine-command.ts'
import { settledMs } from './settled-time.ts'

const mostErrorChars = 2_000
/**
 * Exit code of tar when files changed or disappeared while it read them. The session's processes keep running
 * meanwhile.
 */
const changedWhileRead = 1
/** Four times as fast as the default of 16 KiB. */
const chunkSize = 256 * 1024
const level = { chunkSize, params: { [constants.ZSTD_c_compressionLevel]: 1 } }

type ProcessEnd = { code: number | null; said: string }

async function endOf(child: ChildProcessByStdio<Writable | null, Readable | null, Readable>) {
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (said.length < mostErrorChars) said += text
  })
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, said: said.trim() } satisfies ProcessEnd
}

/** Kills the process group: processes that the program started may outlive it. */
function kill({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return
  process.kill(-pid, 'SIGKILL')
}

const env = { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8' }

/**
 * Archives the folders of these names below `folder`. Leaves out files that are unchanged since `snapshot`, and writes
 * the snapshot anew; without a snapshot the archive holds everything. Throws when a file could not be read.
 */
export async function* packFolders(
  folder: string,
  names: readonly string[],
  snapshot: string,
): AsyncGenerator<Uint8Array> {
  const options = ['--create', '--file=-', `--directory=${folder}`, '--format=gnu', '--sparse']
  const what = [`--listed-incremental=${snapshot}`, '--no-check-device', '--mode=ug-s']
  await writeFile(snapshot, '', { flag: 'a' })
  const seen = { reads: names.map((name) => join(folder, name)), writes: [snapshot] }
  const [program, ...given] = await confineCommand(seen, [
    'tar',
    ...options,
    ...what,
    '--',
    ...names,
  ])
  const child = expectStarted(
    spawn(program, given, {
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  )
  const end = awaitLater(endOf(child))
  const zstd = createZstdCompress(level)
  const piped = awaitLater(pipeline(child.stdout, zstd))
  try {
    yield* zstd
    await piped
    const { code, said } = await end
    if (code !== 0 && code !== changedWhileRead) throw new Error(`tar: ${said || `code ${code}`}`)
    await backdate(snapshot)
  } finally {
    kill(child)
    await Promise.allSettled([piped, end])
  }
}

const packOnce = runOnceEach(packEmpty)

/** The archive of empty folders of these names. It is the same for all sessions, so tar runs once. */
export async function* packEmptyFolders(names: readonly string[]): AsyncGenerator<Uint8Array> {
  yield await packOnce(names)
}

async function packEmpty(names: readonly string[]): Promise<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), 'steward-empty-'))
  try {
    for (const name of names) await mkdir(join(folder, name), { mode: 0o700 })
    return await buffer(packFolders(folder, names, join(folder, 'snapshot')))
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Extracts into a folder: first the whole archive, then the changes, which remove the files deleted by then. */
export async function unpackArchive(
  folder: string,
  archive: AsyncIterable<Uint8Array>,
): Promise<void> {
  const options = ['--extract', '--file=-', `--directory=${folder}`, '--preserve-permissions']
  // With --ignore-zeros tar reads its input to the end and does not exit before.
  const how = ['--no-same-owner', '--ignore-zeros', '--listed-incremental=/dev/null']
  const seen = { reads: [], writes: [folder] }
  const [program, ...given] = await confineCommand(seen, ['tar', ...options, ...how])
  const child = expectStarted(
    spawn(program, given, {
      env,
      detached: true,
      stdio: ['pipe', 'ignore', 'pipe'],
    }),
  )
  const end = awaitLater(endOf(child))
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
 * Sets the time in a snapshot back by `settledMs`. A file that changes right after tar has read it may get a time
 * before that of the snapshot; no later archive would then contain the change.
 */
async function backdate(snapshot: string): Promise<void> {
  const bytes = await readFile(snapshot)
  const head = /^(GNU tar-[^\0]*\n)(\d+)\0(\d+)\0/.exec(bytes.toString('latin1', 0, 64))
  if (!head) throw new Error(`${snapshot} is not a snapshot of tar`)
  const [whole, version, seconds = '', nanoseconds = ''] = head
  const at = BigInt(seconds) * second + BigInt(nanoseconds) - BigInt(settledMs) * 1_000_000n
  const earlier = `${version}${at / second}\0${at % second}\0`
  await writeFile(snapshot, Buffer.concat([Buffer.from(earlier), bytes.subarray(whole.length)]))
}

const second = 1_000_000_000n

/**
 * True when a folder of the later snapshot had another path in the earlier one. The archive between the two holds such
 * a move, and tar makes it first and by path: an attacker's link in that path would lead the move anywhere.
 */
export async function isMoved(earlier: string, later: string): Promise<boolean> {
  const before = new Map((await foldersIn(earlier)).map(({ inode, path }) => [inode, path]))
  return (await foldersIn(later)).some(({ inode, path }) => (before.get(inode) ?? path) !== path)
}

/**
 * Parses a snapshot: a version, a time of two numbers, then six fields and the entries of each folder. Appendix D of
 * tar's manual.
 */
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
