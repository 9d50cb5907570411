/**
 * Workspaces that outlive their machine: put aside at the end of a turn or with their sandbox, and laid out again where
 * the session goes on. A workspace is never replaced by an older one, nor by an empty one where there is a checkpoint.
 */
import { createHash, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { TurnFailed } from '@steward/harness/turn.ts'
import type { Keeping } from '../blobs/keeping.ts'
import { newId } from '../core/ids.ts'
import { removeTree } from '../core/remove.ts'
import type { Clock } from '../core/time.ts'
import { iso } from '../core/time.ts'
import type { Databases } from '../database/database.ts'
import { isMoved, packed, unpack } from './archive.ts'
import { canConfine } from './confined.ts'
import type { CheckpointRow, Parts } from './store.ts'
import { checkpointStore, letGo } from './store.ts'

/** `own`: the session's folder on this host. */
export type Whose = { tenant: string; session: string; own: string }

/**
 * What a sandbox starts with: nothing yet, what its predecessor here left, a checkpoint, or nothing although there was
 * something elsewhere.
 */
export type Arrival =
  | { kind: 'new' | 'here' | 'lost' }
  /** Files are the server's until they are given to the session's user. */
  | { kind: 'restored'; takenAt: string }

export type CheckpointDeps = {
  databases: Databases
  keeping: Keeping
  clock: Clock
  /** Folder of all workspaces. Machines that share it share its file of this name. */
  folder: string
  /** Compressed bytes of one archive. */
  largest: number
}

export type Checkpoints = ReturnType<typeof checkpoints>

const parts = ['workspace', 'outputs']
/** A new whole is made when what changed since the last has grown to this share of it. */
const deltaShare = 0.5

export function checkpoints(deps: CheckpointDeps) {
  const { databases, folder } = deps
  let known: Promise<string> | undefined
  const folderId = () => (known ??= idOf(folder))

  return {
    /** Before a sandbox starts, by whoever holds the session's lease. `TurnFailed` when its checkpoint is corrupt. */
    async arrive(whose: Whose): Promise<Arrival> {
      const { tenant, session, own } = whose
      const here = await folderId()
      const database = databases.of(tenant)
      for (;;) {
        const row = await checkpointStore(database.read).row(tenant, session)
        const isThere = existsSync(join(own, 'workspace'))
        if (row?.folder === here && isThere) return { kind: 'here' }
        const arrival = await layOut(deps, whose, row, isThere)
        const isNewest = await database.write(async (tx) => {
          const rows = checkpointStore(tx)
          // Whoever had it last may have put more aside meanwhile.
          if (!isSame(await rows.take(tenant, session), row)) return false
          await rows.use(tenant, session, here)
          return true
        })
        if (isNewest) return arrival
      }
    },

    /** Whether the workspace in this folder is the one used last. */
    async isHere({ tenant, session }: Omit<Whose, 'own'>): Promise<boolean> {
      const row = await checkpointStore(databases.of(tenant).read).row(tenant, session)
      return row?.folder === (await folderId())
    },

    /**
     * Puts aside what has changed; nothing happens when the session has gone on elsewhere meanwhile, nor while its
     * sandbox runs on a machine where what reads along cannot be kept from following its links.
     */
    async save(whose: Whose, { isRunning = false } = {}): Promise<void> {
      if (isRunning && !(await canConfine())) return
      const { tenant, session } = whose
      const here = await folderId()
      const row = await checkpointStore(databases.of(tenant).read).row(tenant, session)
      if (row?.folder === here) await put(deps, whose, row)
    },
  }
}

const isSame = (one: CheckpointRow | undefined, other: CheckpointRow | undefined): boolean =>
  one?.folder === other?.folder &&
  one?.base_key === other?.base_key &&
  one?.delta_key === other?.delta_key

async function layOut(
  deps: CheckpointDeps,
  whose: Whose,
  row: CheckpointRow | undefined,
  isThere: boolean,
): Promise<Arrival> {
  const { own } = whose
  if (row?.base_key) {
    await restore(deps, whose, row)
    return { kind: 'restored', takenAt: row.taken_at ?? '' }
  }
  // It is older than what another machine had.
  if (row && isThere) await removeTree(join(own, 'workspace'))
  for (const part of parts) await mkdir(join(own, part), { recursive: true })
  if (row) return { kind: 'lost' }
  return { kind: isThere ? 'here' : 'new' }
}

/** Of a folder of workspaces, the same for all who have it. */
async function idOf(folder: string): Promise<string> {
  const path = join(folder, 'folder-id')
  await mkdir(folder, { recursive: true })
  await writeFile(path, randomUUID(), { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  return readFile(path, 'utf8')
}

const snapshotOf = (own: string): string => join(own, 'checkpoint.snapshot')

async function put(deps: CheckpointDeps, whose: Whose, row: CheckpointRow): Promise<void> {
  const base = await baseOf(whose.own, row)
  if (!(await putPart(deps, whose, row, base))) await putPart(deps, whose, row, undefined)
}

/** What has changed since `base`, or the whole; false when the former cannot be told without moving a folder. */
async function putPart(
  deps: CheckpointDeps,
  whose: Whose,
  row: CheckpointRow,
  base: Parts['base'] | undefined,
): Promise<boolean> {
  const { databases, keeping, clock } = deps
  const { tenant, session, own } = whose
  const id = newId('checkpoint')
  const snapshot = join(own, `${id}.snapshot`)
  const key = `checkpoints/${tenant}/${session}/${id}`
  try {
    if (base) await copyFile(snapshotOf(own), snapshot)
    const body = atMost(packed(own, parts, snapshot), deps.largest)
    const part = { key, ...(await keeping.put(tenant, key, body)) }
    if (base && (await isMoved(snapshotOf(own), snapshot))) {
      await keeping.abandon(tenant, key)
      return false
    }
    const made = base ? { base, delta: part } : { base: part, delta: null }
    const isKept = await databases.of(tenant).write(async (tx) => {
      const rows = checkpointStore(tx)
      const now = await rows.take(tenant, session)
      if (now?.folder !== row.folder || now.base_key !== row.base_key) return false
      await keeping.hold(tx, tenant, key)
      await letGo(tx, now, clock.now(), made)
      await rows.put(tenant, session, made, iso(clock.now()))
      return true
    })
    if (!isKept) await keeping.abandon(tenant, key)
    if (!isKept || base) return true
    // Named after its archive: what a crash leaves here belongs to no checkpoint.
    await writeFile(`${snapshot}.of`, key)
    await rename(snapshot, snapshotOf(own))
    await rename(`${snapshot}.of`, `${snapshotOf(own)}.of`)
    return true
  } finally {
    await rm(snapshot, { force: true })
  }
}

/** The whole that changes can be told against, while they are few. */
async function baseOf(own: string, row: CheckpointRow): Promise<Parts['base'] | undefined> {
  const { base_key: key, base_size: size, base_sha256: sha256, delta_size } = row
  if (key === null || size === null || sha256 === null) return undefined
  if ((delta_size ?? 0) > size * deltaShare) return undefined
  const of = await readFile(`${snapshotOf(own)}.of`, 'utf8').catch(() => undefined)
  return of === key ? { key, size, sha256 } : undefined
}

class TooLarge extends Error {
  override readonly name = 'TooLarge'
}

async function* atMost(
  body: AsyncIterable<Uint8Array>,
  largest: number,
): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const piece of body) {
    bytes += piece.byteLength
    if (bytes > largest) throw new TooLarge(`its checkpoint would take more than ${largest} bytes`)
    yield piece
  }
}

/** Beside what is there, and in its place when it is whole: the workspace last, as its presence counts. */
async function restore(deps: CheckpointDeps, whose: Whose, row: CheckpointRow): Promise<void> {
  const { own, session } = whose
  const beside = join(own, 'restoring')
  await removeTree(beside)
  await mkdir(beside, { recursive: true, mode: 0o700 })
  try {
    await bring(deps, beside, row, 'base')
    if (row.delta_key !== null) await bring(deps, beside, row, 'delta')
    for (const part of parts) {
      if (!existsSync(join(beside, part))) throw new Corrupt(`it holds no ${part}`)
    }
  } catch (error) {
    await removeTree(beside)
    const what = error instanceof Corrupt ? 'is corrupt' : 'could not be read'
    const message = `the checkpoint of the workspace of ${session} ${what} (${(error as Error).message}): the session cannot go on without it`
    throw new TurnFailed({ type: 'unknown_error', message }, { cause: error })
  }
  // What was known of files here does not hold for these.
  await rm(`${snapshotOf(own)}.of`, { force: true })
  for (const part of parts.toReversed()) {
    await removeTree(join(own, part))
    await rename(join(beside, part), join(own, part))
  }
  await rm(beside, { recursive: true })
}

class Corrupt extends Error {
  override readonly name = 'Corrupt'
}

async function bring(
  { keeping }: CheckpointDeps,
  folder: string,
  row: CheckpointRow,
  which: 'base' | 'delta',
): Promise<void> {
  const [key, size, sha256] = [
    row[`${which}_key`] ?? '',
    row[`${which}_size`],
    row[`${which}_sha256`],
  ]
  const blob = await keeping.blobs.get(key)
  if (!blob) throw new Corrupt('its archive is not there')
  const hash = createHash('sha256')
  let bytes = 0
  let unread: unknown
  async function* seen(body: AsyncIterable<Uint8Array>) {
    try {
      for await (const piece of body) {
        hash.update(piece)
        bytes += piece.byteLength
        yield piece
      }
    } catch (error) {
      unread = error
      throw error
    }
  }
  await unpack(folder, seen(blob.body)).catch((cause: unknown) => {
    throw unread ?? new Corrupt((cause as Error).message, { cause })
  })
  if (bytes !== size || hash.digest('hex') !== sha256) throw new Corrupt('its bytes are others')
}
