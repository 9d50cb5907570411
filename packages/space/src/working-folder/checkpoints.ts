/**
 * Keeps working folders beyond their machine: stores a checkpoint while the session rests or when its sandbox ends, and
 * restores it where the session continues. An older folder never replaces a newer one, and an empty folder never
 * replaces a checkpoint.
 */
import { createHash, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import {
  copyFile,
  link,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import type {
  Checkpoint,
  CheckpointPart as Part,
  CheckpointParts as Parts,
} from '@steward/protocol/checkpoints.ts'
import { withoutHostPaths } from '@steward/sandbox/host-paths.ts'
import { removeTree } from '@steward/sandbox/remove-tree.ts'
import { limitBytes } from '@steward/base/byte-limit.ts'
import { TurnFailed } from '@steward/protocol/turn-failed.ts'
import { isMoved, packFolders, packEmptyFolders, unpackArchive } from './archive.ts'

/**
 * The files that a sandbox starts with: none yet, the files of the sandbox before it on this machine, a checkpoint, or
 * none although another machine had files.
 */
export type Arrival =
  | { kind: 'new' | 'here' | 'lost' }
  /** This process owns the files until it gives them to the session's user. */
  | { kind: 'restored'; takenAt: string }

const fresh =
  'the sandbox was started anew: processes, shell variables and files outside of /workspace, /mnt/session/outputs and /mnt/user are gone'

/** The notice for an agent whose sandbox is not the one that it knew. */
export function arrivalNotice(arrival: Arrival): string | undefined {
  if (arrival.kind === 'restored')
    return `${fresh}; /workspace was restored as it was at ${arrival.takenAt}`
  if (arrival.kind === 'new') return undefined
  if (arrival.kind === 'here') return fresh
  return `${fresh}; /workspace lay on a machine that is not at hand, no checkpoint of it exists, and it is empty now`
}

/** Checkpoints of one session, wherever they are kept. */
export type SessionCheckpoints = {
  row: () => Promise<Checkpoint | undefined>
  /**
   * Records the working folder in this folder as the newest. Returns false when the row has changed since it was read.
   */
  use: (folder: string, seen: Checkpoint | undefined) => Promise<boolean>
  /** Undefined when the blob is missing. */
  open: (part: Part) => Promise<AsyncIterable<Uint8Array> | undefined>
  /** Stores an archive. No checkpoint refers to it before `commit`. */
  put: (body: AsyncIterable<Uint8Array>) => Promise<Part>
  /** Returns false when the session continued on another machine meanwhile. */
  commit: (made: Parts, seen: Checkpoint) => Promise<boolean>
  abandon: (part: Part) => Promise<void>
}

export type WorkingFolder = {
  session: string
  /** The session's folder on this host. */
  own: string
  /** Id of the folder of all working folders, see `folderId`. */
  here: string
  /** Largest size of one archive, in compressed bytes. */
  largest: number
}

/** In the order of restoration. The working folder is last: its existence shows that the restoration is complete. */
export const workingFolders = ['user', 'outputs', 'workspace']
/** True for the folder that checkpoints of earlier versions lack. */
const isNew = (part: string): boolean => part === 'user'
/** A new whole archive is made when the changes since the last one have grown to this share of it. */
const deltaShare = 0.5

/**
 * Called before a sandbox starts, by the holder of the session's lease. Throws `TurnFailed` when the checkpoint is
 * corrupt.
 */
export async function prepareFiles(
  store: SessionCheckpoints,
  folders: WorkingFolder,
): Promise<Arrival> {
  const { here } = folders
  for (;;) {
    const row = await store.row()
    const isThere = existsSync(join(folders.own, 'workspace'))
    if (row?.folder === here && isThere) return { kind: 'here' }
    const arrival = await createOrRestore(store, folders, row, isThere)
    // Another process may have stored a newer checkpoint meanwhile: read the row again.
    if (await store.use(here, row)) return arrival
  }
}

/**
 * Stores the changes as a checkpoint. False, and nothing is stored, when the session continued on another machine
 * meanwhile.
 */
export async function storeCheckpoint(
  store: SessionCheckpoints,
  folders: WorkingFolder,
): Promise<boolean> {
  const row = await store.row()
  return row?.folder === folders.here && put(store, folders, row)
}

async function createOrRestore(
  store: SessionCheckpoints,
  folders: WorkingFolder,
  row: Checkpoint | undefined,
  isThere: boolean,
): Promise<Arrival> {
  const { own } = folders
  if (row?.parts) {
    await restore(store, folders, row.parts)
    return { kind: 'restored', takenAt: row.taken_at ?? '' }
  }
  // These folders are older than the files that another machine had.
  if (row && isThere) for (const part of ['workspace', 'user']) await removeTree(join(own, part))
  for (const part of workingFolders) await mkdir(join(own, part), { recursive: true })
  if (row) return { kind: 'lost' }
  return { kind: isThere ? 'here' : 'new' }
}

/**
 * The id of a folder of working folders, the same for all processes that share the folder. Several processes may create
 * it at once.
 */
export async function folderId(folder: string): Promise<string> {
  const path = join(folder, 'folder-id')
  if (existsSync(path)) return readFile(path, 'utf8')
  await mkdir(folder, { recursive: true })
  const id = randomUUID()
  const mine = `${path}.${id}`
  try {
    await writeFile(mine, id, { flag: 'wx' })
    await link(mine, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  } finally {
    await rm(mine, { force: true })
  }
  return readFile(path, 'utf8')
}

const snapshotOf = (own: string): string => join(own, 'checkpoint.snapshot')

async function put(
  store: SessionCheckpoints,
  folders: WorkingFolder,
  row: Checkpoint,
): Promise<boolean> {
  const base = await baseOf(folders.own, row)
  const outcome = await putPart(store, folders, row, base)
  const whole = outcome === 'moved' ? await putPart(store, folders, row, undefined) : outcome
  return whole === 'kept'
}

/** Archives the changes since `base`, or everything. Returns `moved` when the changes would have to move a folder. */
async function putPart(
  store: SessionCheckpoints,
  { own, largest }: WorkingFolder,
  row: Checkpoint,
  base: Part | undefined,
): Promise<'kept' | 'moved' | 'elsewhere'> {
  const snapshot = join(own, `${randomUUID()}.snapshot`)
  for (const part of workingFolders.filter(isNew)) await mkdir(join(own, part), { recursive: true })
  try {
    if (base) await copyFile(snapshotOf(own), snapshot)
    const isEmpty = base === undefined && (await areEmpty(own))
    const archive = isEmpty
      ? packEmptyFolders(workingFolders)
      : packFolders(own, workingFolders, snapshot)
    const part = await store.put(
      limitBytes(archive, largest, () => new Error(tooLargeMessage(largest))),
    )
    if (base && (await isMoved(snapshotOf(own), snapshot))) {
      await store.abandon(part)
      return 'moved'
    }
    const made = base ? { base, delta: part } : { base: part, delta: null }
    const isKept = await store.commit(made, row)
    if (!isKept) {
      await store.abandon(part)
      return 'elsewhere'
    }
    // Without a snapshot the next checkpoint holds everything.
    if (base || isEmpty) return 'kept'
    // The second file names the archive of the snapshot, so that a snapshot that a crash left is not used.
    await writeFile(`${snapshot}.of`, part.key)
    await rename(snapshot, snapshotOf(own))
    await rename(`${snapshot}.of`, `${snapshotOf(own)}.of`)
    return 'kept'
  } finally {
    await rm(snapshot, { force: true })
  }
}

/** True for the folders of a session that has written no file yet. */
async function areEmpty(own: string): Promise<boolean> {
  for (const part of workingFolders) if ((await readdir(join(own, part))).length > 0) return false
  return true
}

/** The whole archive that the next checkpoint can store changes against; undefined when the next one must be whole. */
async function baseOf(own: string, { parts: kept }: Checkpoint): Promise<Part | undefined> {
  if (!kept) return undefined
  const { base, delta } = kept
  if ((delta?.size ?? 0) > base.size * deltaShare) return undefined
  const of = await readFile(`${snapshotOf(own)}.of`, 'utf8').catch(() => undefined)
  return of === base.key ? base : undefined
}

export const tooLargeMessage = (largest: number): string =>
  `its checkpoint would take more than ${largest} bytes`

/** Extracts the checkpoint into a new folder, then moves its parts into place. */
async function restore(
  store: SessionCheckpoints,
  { own, session }: WorkingFolder,
  { base, delta }: Parts,
): Promise<void> {
  const beside = join(own, 'restoring')
  await removeTree(beside)
  await mkdir(beside, { recursive: true, mode: 0o700 })
  try {
    await extractPart(store, beside, base)
    if (delta) await extractPart(store, beside, delta)
    // Never follow a link: the sandbox would get the target of the link.
    for (const part of workingFolders) {
      const found = await lstat(join(beside, part)).catch(() => undefined)
      if (!found && isNew(part)) await mkdir(join(beside, part))
      else if (!found?.isDirectory()) throw new CorruptArchive(`it holds no ${part}`)
    }
  } catch (error) {
    await removeTree(beside)
    const what = error instanceof CorruptArchive ? 'is corrupt' : 'could not be read'
    const message = `the checkpoint of the workspace of ${session} ${what} (${withoutHostPaths((error as Error).message)}): the session cannot go on without it`
    throw new TurnFailed({ type: 'unknown_error', message }, { cause: error })
  }
  // The snapshot of the earlier files does not hold for the restored files.
  await rm(`${snapshotOf(own)}.of`, { force: true })
  for (const part of workingFolders) {
    await removeTree(join(own, part))
    await rename(join(beside, part), join(own, part))
  }
  await rm(beside, { recursive: true })
}

class CorruptArchive extends Error {
  override readonly name = 'Corrupt'
}

async function extractPart(store: SessionCheckpoints, folder: string, part: Part): Promise<void> {
  const body = await store.open(part)
  if (!body) throw new CorruptArchive('its archive is not there')
  const hash = createHash('sha256')
  let bytes = 0
  let unread: unknown
  async function* seen(archive: AsyncIterable<Uint8Array>) {
    try {
      for await (const piece of archive) {
        hash.update(piece)
        bytes += piece.byteLength
        yield piece
      }
    } catch (error) {
      unread = error
      throw error
    }
  }
  await unpackArchive(folder, seen(body)).catch((cause: unknown) => {
    throw unread ?? new CorruptArchive((cause as Error).message, { cause })
  })
  if (bytes !== part.size || hash.digest('hex') !== part.sha256)
    throw new CorruptArchive('its bytes are others')
}
