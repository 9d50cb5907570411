/** Checkpoints of working folders: rows in the database, archives in the blob store. */
import { runOnce } from '@steward/base/shared-runs.ts'
import type { Arrival, SessionCheckpoints } from '@steward/space/working-folder/checkpoints.ts'
import type { Checkpoint, CheckpointParts } from '@steward/protocol/checkpoints.ts'
import {
  prepareFiles,
  folderId,
  storeCheckpoint,
} from '@steward/space/working-folder/checkpoints.ts'
import { canConfine } from '@steward/space/working-folder/confine-command.ts'
import type { BlobKeeping } from '../../ground/blobs/blob-keeping.ts'
import { newId } from '../../ground/core/text/ids.ts'
import { iso } from '@steward/base/time.ts'
import type { Database, Queries } from '../../ground/database/database.ts'
import type { Ground } from '../../ground/ground.ts'
import type { CheckpointRow } from './store.ts'
import { markAll, pastStore } from './past-checkpoints.ts'
import { checkpointStore, keysOf } from './store.ts'
import type { SessionRef } from '../../ground/core/refs.ts'

/** `own`: the session's folder on this host. */
export type CheckpointOwner = SessionRef & { own: string }

/** `history`: how many checkpoints of a session stay beside its newest. */
type StoreDeps = Ground & { keeping: BlobKeeping; history: number }

export type Checkpoints = ReturnType<typeof createCheckpoints>

export function createCheckpoints(
  deps: StoreDeps & {
    /** Folder of all working folders. Machines that share the folder also share the file in it that identifies it. */
    folder: string
    /** Largest archive, in compressed bytes. */
    largest: number
  },
) {
  const { folder, largest } = deps
  const here = runOnce(() => folderId(folder))
  const storeOf = async ({ tenant, session }: SessionRef) =>
    workspaceStore(await deps.databases.open(tenant), deps, tenant, session)
  const foldersOf = async ({ session, own }: CheckpointOwner) => ({
    session,
    own,
    here: await here(),
    largest,
  })
  /** The checkpoint of the session; `isHere`: this folder holds the working folder that was used last. */
  async function newest(
    whose: SessionRef,
  ): Promise<{ kept: Checkpoint | undefined; isHere: boolean }> {
    const kept = await (await storeOf(whose)).row()
    return { kept, isHere: kept !== undefined && kept.folder === (await here()) }
  }

  return {
    /**
     * Restores the working folder before a sandbox starts. The caller holds the session's lease. Throws `TurnFailed`
     * when the checkpoint is corrupt.
     */
    arrive: async (whose: CheckpointOwner): Promise<Arrival> =>
      prepareFiles(await storeOf(whose), await foldersOf(whose)),

    /** True when this folder holds the working folder that was used last. */
    isHere: async (whose: SessionRef): Promise<boolean> => (await newest(whose)).isHere,

    newest,

    /**
     * Stores the changed files. False, and nothing is stored, when the session has continued elsewhere, and while the
     * sandbox runs on a machine that cannot keep the archiver from following the session's links.
     */
    async save(whose: CheckpointOwner, { isRunning = false } = {}): Promise<boolean> {
      if (isRunning && !(await canConfine())) return false
      return storeCheckpoint(await storeOf(whose), await foldersOf(whose))
    },
  }
}

/** Prefix of the archives' keys, which names tenant and session. */
export const archivesPrefix = (tenant: string, session: string): string =>
  `checkpoints/${tenant}/${session}/`

/** `check` runs in each transaction that writes. */
export function workspaceStore(
  database: Database,
  { keeping, clock, history }: StoreDeps,
  tenant: string,
  session: string,
  check: (tx: Queries) => Promise<void> = () => Promise.resolve(),
) {
  return {
    row: async () => keptOf(await checkpointStore(database.read).row(tenant, session)),

    use: (folder, seen) =>
      database.write(async (tx) => {
        await check(tx)
        const rows = checkpointStore(tx)
        if (!isSame(keptOf(await rows.findForUpdate(tenant, session)), seen)) return false
        await rows.use(tenant, session, folder)
        return true
      }),

    open: async ({ key }) => (await keeping.blobs.get(key))?.body,

    async put(body) {
      const key = archivesPrefix(tenant, session) + newId('checkpoint')
      return { key, ...(await keeping.put(tenant, key, body, check)) }
    },

    commit: (made, seen) =>
      database.write(async (tx) => {
        await check(tx)
        const rows = checkpointStore(tx)
        const now = await rows.findForUpdate(tenant, session)
        if (now?.folder !== seen.folder || now.base_key !== (seen.parts?.base.key ?? null))
          return false
        await keeping.hold(tx, tenant, (made.delta ?? made.base).key)
        const at = clock.now()
        await rows.put(tenant, session, made, iso(at))
        const kept = { at: iso(at), most: history, replaced: keysOf(now) }
        const gone = await pastStore(tx).add(tenant, session, made, kept)
        await markAll(tx, tenant, gone, at)
        return true
      }),

    abandon: ({ key }) => keeping.abandon(tenant, key),
  } satisfies SessionCheckpoints
}

const isSame = (one: Checkpoint | undefined, other: Checkpoint | undefined): boolean =>
  one?.folder === other?.folder &&
  one?.parts?.base.key === other?.parts?.base.key &&
  one?.parts?.delta?.key === other?.parts?.delta?.key

function keptOf(row: CheckpointRow | undefined): Checkpoint | undefined {
  if (!row) return undefined
  const { folder, taken_at } = row
  return { folder, parts: partsOf(row), taken_at }
}

/** The archives that a row names. */
export function partsOf(row: Omit<CheckpointRow, 'folder' | 'taken_at'>): CheckpointParts | null {
  const part = (which: 'base' | 'delta') => {
    const [key, size, sha256] = [row[`${which}_key`], row[`${which}_size`], row[`${which}_sha256`]]
    return key === null ? null : { key, size: size ?? 0, sha256: sha256 ?? '' }
  }
  const base = part('base')
  return base && { base, delta: part('delta') }
}
