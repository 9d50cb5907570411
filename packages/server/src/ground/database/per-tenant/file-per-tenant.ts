/**
 * SQLite with a file for each tenant. A file is open while it is used and a while after, and the number of open files
 * is limited. Holders of a tenant's database do not notice: each statement or unit opens a closed file, and keeps it
 * open until the end of the statement or unit.
 */
import type { Log } from '@steward/base/log.ts'
import type { Clock } from '@steward/base/time.ts'
import { runUnaudited } from '../../core/security/audited-call.ts'
import { NoWorkspaceError, WorkspaceDatabaseError, StorageError } from '../../core/errors.ts'
import type { Database, Databases } from '../database.ts'
import { nextDueTime } from '../due-sessions.ts'
import type { PooledFile } from './file-pool.ts'
import { filePool, pooledFile } from './file-pool.ts'
import { tenantDatabaseStore } from './tenant-databases.ts'
import { tenantFile } from './tenant-file.ts'
import { tenantFiles } from './tenant-files.ts'
import { databaseWalks } from './database-walks.ts'
import { createWeakValues } from './weak-values.ts'

export type FilePerTenantOptions = {
  control: Database
  folder: string
  /** Most files that are open at a time. */
  mostOpen: number
  /** Largest size of each file, in bytes. */
  mostBytes: number
  clock: Clock
  log: Log
  /** Wraps a tenant's database for callers. */
  observe?: (database: Database) => Database
}

type FilePreparation = (database: Database) => Promise<void>

/** Milliseconds without use after which a file is closed. */
const idleMs = 10 * 60_000
/** Milliseconds until a file that failed to open is tried again. */
const asideMs = 30_000

/** SQLite's codes for a damaged file, and for a file that is no database. */
const damages = new Set([11, 26])

type FileEntry = PooledFile & {
  /** The database that callers hold. */
  readonly database: Database
  usedAt: number
  /** True once this process has told control, since the file was opened, that jobs have to look at it. */
  isWoken: boolean
  aside: { error: WorkspaceDatabaseError; until: number } | undefined
  isForgotten: boolean
  /** Number of preparations that have run. */
  prepared: number
}

export async function filePerTenant(options: FilePerTenantOptions): Promise<Databases> {
  const { control, clock } = options
  const files = tenantFiles(options.folder, control.owners, options.mostBytes)
  await files.begin()
  const preparations: FilePreparation[] = []
  const open = opener(options, files, preparations)
  const entries = entriesOf(options, open)
  const { pool, entryOf, use, hold } = entries

  async function dueTenants(aheadMs = 0): Promise<Set<string>> {
    const since = clock.now() - idleMs
    await pool.closeFree(({ usedAt }) => usedAt < since)
    const due = await tenantDatabaseStore(control.read).due(clock.now() + aheadMs)
    const opened = pool.files().map(({ tenant }) => tenant)
    return new Set([...opened, ...due.map(({ tenant_id }) => tenant_id)])
  }

  return {
    control,
    isShared: false,
    async open(tenant) {
      const entry = entryOf(tenant)
      entry.usedAt = clock.now()
      if (entry.opened) pool.touch(entry)
      else await use(entry, async () => {})
      return entry.database
    },
    ...databaseWalks({
      control,
      databaseOf: (tenant) => entryOf(tenant).database,
      reach: (tenant) => use(entryOf(tenant), async () => {}),
      dueTenants,
    }),
    async forget(tenant) {
      const entry = entryOf(tenant)
      entry.isForgotten = true
      await hold(entry, async () => {
        await pool.closeWhenFree(entry)
        await files.remove(tenant)
        await control.write((tx) => tenantDatabaseStore(tx).remove(tenant))
      })
    },
    async prepare(work) {
      preparations.push(work)
      for (const entry of pool.files())
        await use(entry, (database) => prepare(entry, database, preparations))
    },
    async close() {
      await Promise.all(pool.files().map((file) => pool.closeWhenFree(file)))
      await control.close()
    },
  }
}

/** Opens the file of an entry. Creates the file when the workspace has none yet. */
function opener(
  { control, clock }: FilePerTenantOptions,
  files: ReturnType<typeof tenantFiles>,
  preparations: readonly FilePreparation[],
) {
  async function ensure(tenant: string): Promise<void> {
    const rows = tenantDatabaseStore(control.read)
    const isKnown = await rows.isKnown(tenant)
    if (!files.isThere(tenant)) {
      if (isKnown) throw new Error(`the file of the database of ${tenant} is not there`)
      if (!(await rows.isWorkspace(tenant))) throw new NoWorkspaceError(tenant)
      await files.make(tenant)
    }
    // A process that dies here leaves a file that the next call finds by its name.
    if (isKnown) return
    await runUnaudited(() =>
      control.write((tx) => tenantDatabaseStore(tx).add(tenant, clock.now())),
    )
  }

  return async (entry: FileEntry): Promise<Database> => {
    await ensure(entry.tenant)
    const opened = await files.open(entry.tenant)
    try {
      await prepare(entry, opened, preparations)
    } catch (error) {
      await opened.close()
      throw error
    }
    return opened
  }
}

async function prepare(
  entry: FileEntry,
  opened: Database,
  preparations: readonly FilePreparation[],
): Promise<void> {
  for (; entry.prepared < preparations.length; entry.prepared++)
    await preparations[entry.prepared]?.(opened)
}

function entriesOf(
  { control, mostOpen, clock, log, observe = (database) => database }: FilePerTenantOptions,
  open: (entry: FileEntry) => Promise<Database>,
) {
  const entries = createWeakValues<FileEntry>()
  const pool = filePool<FileEntry>({ mostOpen, open: openUsable, close: settleAndClose })

  function entryOf(tenant: string): FileEntry {
    const known = entries.get(tenant)
    if (known) return known
    const file = tenantFile(
      (work, isWriting = false) =>
        use(entry, async (database) => {
          if (isWriting && !entry.isWoken) await wake(entry)
          return work(database)
        }),
      control.owners,
      () => pool.closeWhenFree(entry),
    )
    const entry: FileEntry = {
      ...pooledFile(tenant),
      database: observe(file),
      usedAt: clock.now(),
      isWoken: false,
      aside: undefined,
      isForgotten: false,
      prepared: 0,
    }
    entries.set(tenant, entry)
    return entry
  }

  async function use<T>(entry: FileEntry, work: (database: Database) => Promise<T>): Promise<T> {
    if (entry.isForgotten) throw new NoWorkspaceError(entry.tenant)
    if (entry.aside && entry.aside.until > clock.now()) throw entry.aside.error
    try {
      return await pool.use(entry, work)
    } catch (error) {
      throw isDamage(error) ? setAside(entry, error) : error
    }
  }

  async function openUsable(entry: FileEntry): Promise<Database> {
    try {
      const opened = await open(entry)
      entry.aside = undefined
      return opened
    } catch (error) {
      if (error instanceof StorageError || error instanceof NoWorkspaceError) throw error
      throw setAside(entry, error)
    }
  }

  async function wake(entry: FileEntry): Promise<void> {
    // The calling request has its audit line in the tenant's own unit.
    await runUnaudited(() =>
      control.write((tx) => tenantDatabaseStore(tx).wake(entry.tenant, clock.now())),
    )
    entry.isWoken = true
  }

  /** Records when jobs look at the file next, then closes it. Nothing is written meanwhile, so the time is exact. */
  async function settleAndClose(entry: FileEntry, opened: Database): Promise<void> {
    const { tenant, isWoken, aside } = entry
    entry.isWoken = false
    try {
      if (isWoken && !aside) {
        const due = await nextDueTime(opened)
        await runUnaudited(() =>
          control.write((tx) =>
            tenantDatabaseStore(tx).settle(tenant, { due, wokenBefore: Infinity }),
          ),
        )
      }
    } catch (error) {
      log.error('the next job time of a workspace could not be recorded', { tenant, error })
    }
    await opened
      .close()
      .catch((error: unknown) =>
        log.error('the database of a workspace could not be closed', { tenant, error }),
      )
  }

  function setAside(entry: FileEntry, cause: unknown): WorkspaceDatabaseError {
    const { tenant } = entry
    log.error('the database of a workspace is set aside', { tenant, error: cause })
    const error = new WorkspaceDatabaseError(cause as Error)
    entry.aside = { error, until: clock.now() + asideMs }
    void pool.closeWhenFree(entry)
    return error
  }

  return { pool, entryOf, use, hold: entries.hold }
}

const isDamage = (error: unknown): error is Error =>
  error instanceof Error && 'errcode' in error && damages.has(Number(error.errcode) & 0xff)
