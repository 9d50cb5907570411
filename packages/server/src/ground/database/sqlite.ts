import { chmodSync, closeSync, existsSync, openSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { SQLInputValue, StatementSync } from 'node:sqlite'
import { Kysely, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely'
import { StorageError } from '../core/errors.ts'
import { newId } from '../core/text/ids.ts'
import { eventLoop } from '../core/fairness/event-loop.ts'
import type { Connection, Database, Owners, Queries } from './database.ts'
import { NamedSqliteAdapter } from './dialect.ts'
import { isMigrated, applyMigrations } from './migrate.ts'
import { withoutNotices } from './notices.ts'
import type { RunDirectly } from './statement.ts'
import { setDirectRun } from './statement.ts'
import type { Tables } from './tables.ts'
import type { UnitStep } from './units.ts'
import { unitQueue } from './units.ts'
import type { LogFrames, SyncFile } from './write-ahead-log.ts'
import { logCheckpoints, commitSyncs, syncFile, writeLogAgain } from './write-ahead-log.ts'

/** Statements that one connection keeps prepared. */
const usualStatements = 1000

/** SQLite's primary result codes: busy and locked (5, 6), a failing disk (10), a file that cannot be opened (14). */
const away = new Set([5, 6, 10, 14])
const full = 13

/** Runs the step. Turns errors of a full, failing or locked disk into a `StorageError`. */
function withStorageErrors<T>(step: () => T): T {
  try {
    return step()
  } catch (error) {
    if (!(error instanceof Error) || !('errcode' in error)) throw error
    const code = Number(error.errcode) & 0xff
    if (code === full) throw new StorageError('full', error)
    if (away.has(code)) throw new StorageError('away', error)
    throw error
  }
}

/** Resolves when everything that a statement may have seen is on disk. Undefined: it already is. */
type DiskWait = () => Promise<void> | undefined

/** Limits and rules of a connection. */
export type StatementRules = {
  /** Number of statements that the connection keeps prepared. */
  statements?: number
  /** Memory for pages, in KiB; SQLite's own default is 2,000. */
  pageMemory?: number
  /** Largest size of the file, in bytes. A file that is already larger does not grow. */
  mostBytes?: number | undefined
  /** Called with each statement before it is prepared. Throws for a statement that may not run. */
  examine?: (sql: string) => void
}

type StatementWatch = StatementRules & { check?: () => void; onDisk?: DiskWait }

type PreparedStatement = { statement: StatementSync; rows: boolean; isSelect: boolean }

/** Prepares each statement once. Statements run synchronously within the call, so an await costs only microtasks. */
class SqliteConnection implements DatabaseConnection {
  readonly #db: DatabaseSync
  readonly #statements = new Map<string, PreparedStatement>()

  readonly #check: () => void
  readonly #onDisk: DiskWait
  readonly #most: number
  readonly #examine: (sql: string) => void
  #hasChanged = false

  /** `check` runs before each statement and may throw. Rows are returned after `onDisk` resolves. */
  constructor(
    db: DatabaseSync,
    {
      check = () => {},
      onDisk = () => undefined,
      statements = usualStatements,
      examine = () => {},
    }: StatementWatch = {},
  ) {
    this.#db = db
    this.#check = check
    this.#onDisk = onDisk
    this.#most = statements
    this.#examine = examine
  }

  #prepare(sql: string) {
    const known = this.#statements.get(sql)
    if (known) return known
    this.#examine(sql)
    const statement = this.#db.prepare(sql)
    const rows = statement.columns().length > 0
    const prepared = { statement, rows, isSelect: /^\s*select\b/i.test(sql) }
    if (this.#statements.size >= this.#most) this.#statements.clear()
    this.#statements.set(sql, prepared)
    return prepared
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const result = this.#run<R>(query)
    const pending = this.#onDisk()
    if (pending) await pending
    return result
  }

  /** True when rows may have changed since the last call. */
  hasChanged(): boolean {
    const changed = this.#hasChanged
    this.#hasChanged = false
    return changed
  }

  rowsOf<R>(query: CompiledQuery): R[] | Promise<R[]> {
    const { rows } = this.#run<R>(query)
    return this.#onDisk()?.then(() => rows) ?? rows
  }

  #run<R>({ sql, parameters }: CompiledQuery): QueryResult<R> {
    this.#check()
    const values = parameters as SQLInputValue[]
    return withStorageErrors(() => {
      const { statement, rows, isSelect } = this.#prepare(sql)
      if (rows) {
        const found = statement.all(...values) as R[]
        if (!isSelect && found.length > 0) this.#hasChanged = true
        return { rows: found }
      }
      const { changes } = statement.run(...values)
      if (changes > 0) this.#hasChanged = true
      return { rows: [], numAffectedRows: BigInt(changes) }
    })
  }

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    yield await this.executeQuery<R>(query)
  }
}

/** A driver without transactions of its own: the queue of units opens the writer's, and readers need none. */
function driver(connection: SqliteConnection, transaction: (step: string) => void): Driver {
  return {
    init: async () => {},
    acquireConnection: async () => connection,
    releaseConnection: async () => {},
    beginTransaction: async () => transaction('begin immediate'),
    commitTransaction: async () => transaction('commit'),
    rollbackTransaction: async () => transaction('rollback'),
    destroy: async () => {},
  }
}

const refuse = () => {
  throw new Error('transactions are opened by write(unit) alone')
}

const queries = (
  connection: SqliteConnection,
  transaction: (step: string) => void = refuse,
): Connection =>
  sqliteQueries(
    <Row>(query: CompiledQuery<Row>) => connection.rowsOf<Row>(query),
    driver(connection, transaction),
  )

/** `run`: runs statements that are built once, without the driver. */
export function sqliteQueries(run: RunDirectly, driver: Driver): Connection {
  const adapter = new NamedSqliteAdapter()
  setDirectRun(adapter, run)
  return new Kysely<Tables>({
    dialect: {
      createDriver: () => driver,
      createQueryCompiler: () => new SqliteQueryCompiler(),
      createAdapter: () => adapter,
      createIntrospector: (kysely) => new SqliteIntrospector(kysely),
    },
  })
}

type SqliteOptions = StatementRules & {
  alone?: boolean
  /** The owners, when this process already holds the folder alone. */
  owners?: Owners
  /** For tests: replaces the sync of the log. */
  sync?: SyncFile
}

/**
 * A database in a file, with one writing and one reading connection. A unit resolves, and rows are returned, when the
 * data is on disk; see `write-ahead-log.ts`. A second server on the same file is refused, so every other owner is dead.
 * With `alone: false` another process may have the file open: for commands beside a server, which hold no leases.
 */
export async function sqliteDatabase(
  path: string,
  { alone = true, owners, sync = syncFile, ...rules }: SqliteOptions = {},
): Promise<Database> {
  const guard = alone && !owners ? holdAlone(`${path}.lock`) : undefined
  const opened: { close(): void }[] = guard ? [guard] : []
  const closeAll = () => {
    for (const each of opened.toReversed()) each.close()
  }
  try {
    const writer = await openWriter(path, alone, opened)
    const reader = new DatabaseSync(path)
    opened.push(reader)
    reader.exec('pragma query_only = on; pragma busy_timeout = 5000')
    if (rules.pageMemory !== undefined)
      for (const each of [writer, reader]) each.exec(`pragma cache_size = -${rules.pageMemory}`)
    if (rules.mostBytes !== undefined) boundFile(writer, rules.mostBytes)
    const log = openSync(`${path}-wal`, 'r')
    opened.push({ close: () => closeSync(log) })
    const self = newId('process')
    return {
      dialect: 'sqlite',
      ...(alone ? shared : besideServer)(
        { path, writer, reader, rules, sync: () => sync(log) },
        closeAll,
      ),
      owners: owners ?? { self, dead: async (all) => all.filter((owner) => owner !== self) },
    }
  } catch (error) {
    closeAll()
    throw error
  }
}

function boundFile(writer: DatabaseSync, mostBytes: number): void {
  const pageBytes = Number(writer.prepare('pragma page_size').get()?.['page_size'])
  writer.exec(`pragma max_page_count = ${Math.floor(mostBytes / pageBytes)}`)
}

const pragmas = `pragma synchronous = full; pragma foreign_keys = on; pragma busy_timeout = 5000;
  pragma secure_delete = on`

/** Opens the writer and migrates. The frames, the head and the folder entry of the log are on disk afterwards. */
async function openWriter(
  path: string,
  alone: boolean,
  opened: { close(): void }[],
): Promise<DatabaseSync> {
  ownersOnly(path)
  const isLeft = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0
  const writer = new DatabaseSync(path)
  opened.push(writer)
  const mode = writer.prepare('pragma journal_mode = wal').get()?.['journal_mode']
  if (mode !== 'wal')
    throw new Error(`${path} cannot have a write-ahead log: give DATA_DIR a local file system`)
  writer.exec(pragmas)
  if (alone && isLeft) {
    writer.exec('begin immediate')
    writeLogAgain(path)
    writer.exec('rollback')
  }
  const db = queries(new SqliteConnection(writer), (step) => writer.exec(step))
  if (!(await isMigrated(db)))
    await db.transaction().execute((tx) => applyMigrations(tx, 'the database'))
  return writer
}

/** One transaction of any length over its own connection, for commands. All reads see one moment. */
export async function sqliteTransaction<T>(
  path: string,
  { isReading }: { isReading: boolean },
  work: (db: Queries) => Promise<T>,
): Promise<T> {
  using db = new DatabaseSync(path, { readOnly: isReading })
  const exec = (text: string) => withStorageErrors(() => db.exec(text))
  exec(isReading ? 'pragma busy_timeout = 5000; begin' : `${pragmas}; begin immediate`)
  try {
    const result = await work(withoutNotices(queries(new SqliteConnection(db))))
    exec(isReading ? 'rollback' : 'commit')
    return result
  } catch (error) {
    if (db.isTransaction) exec('rollback')
    throw error
  }
}

type SqliteHandles = {
  path: string
  writer: DatabaseSync
  reader: DatabaseSync
  rules: StatementRules
  /** Syncs the log off the event loop. */
  sync: () => Promise<void>
}
type SqliteAccess = Pick<Database, 'read' | 'write' | 'writeStatement' | 'close'>

/** For the server: commits are written without sync and resolve after a sync off the event loop. */
function shared(
  { path, writer, reader, rules, sync }: SqliteHandles,
  closeAll: () => void,
): SqliteAccess {
  // The first write begins a new log and syncs its head and its folder.
  writer.exec('pragma user_version = 0; pragma wal_autocheckpoint = 0; pragma synchronous = normal')
  // Keeps the statement journal in memory: beyond 64 KiB SQLite would write it to a file, two writes a page.
  writer.exec('pragma temp_store = memory')
  const frames = reader.prepare('pragma wal_checkpoint(noop)')
  const log = logCheckpoints(
    path,
    () => frames.get() as LogFrames,
    (error) => syncs.fail(error),
  )
  const syncs = commitSyncs(sync, () => log.look())
  const units = unitsOf(writer, rules, {
    beforeBatch() {
      syncs.check()
      return log.restarting()
    },
    onDisk(hasChanged) {
      if (hasChanged) syncs.wrote()
      return syncs.pending()?.catch((error: Error) => {
        throw new StorageError('away', error, true)
      })
    },
  })
  const shown = () =>
    syncs.pending()?.catch((error: Error) => {
      throw new StorageError('away', error)
    })
  return {
    read: queries(new SqliteConnection(reader, { ...rules, onDisk: shown })),
    write: units.write,
    writeStatement: units.write,
    async close() {
      await units.drained()
      await log.close()
      closeAll()
    },
  }
}

/** For a command beside a server. Its reads may show commits that are not on disk yet, and then wait for a sync. */
function besideServer(
  { writer, reader, rules, sync }: SqliteHandles,
  closeAll: () => void,
): SqliteAccess {
  const units = unitsOf(writer, rules, {})
  return {
    read: queries(new SqliteConnection(reader, { ...rules, onDisk: sync })),
    write: units.write,
    writeStatement: units.write,
    async close() {
      await units.drained()
      closeAll()
    },
  }
}

type BatchHooks = {
  beforeBatch?: () => Promise<void> | undefined
  onDisk?: (hasChanged: boolean) => Promise<void> | undefined
}

function unitsOf(writer: DatabaseSync, rules: StatementRules, { beforeBatch, onDisk }: BatchHooks) {
  const connection = new SqliteConnection(writer, { ...rules, check: () => units.check() })
  const steps = preparedSteps(writer)
  const units = unitQueue(
    withoutNotices(queries(connection)),
    (step) => withStorageErrors(() => steps[step].run()),
    {
      ...eventLoop,
      ...(beforeBatch && { beforeBatch }),
      ...(onDisk && { onDisk: () => onDisk(connection.hasChanged()) }),
    },
  )
  return units
}

const preparedSteps = (writer: DatabaseSync): Record<UnitStep, StatementSync> => ({
  'begin immediate': writer.prepare('begin immediate'),
  commit: writer.prepare('commit'),
  rollback: writer.prepare('rollback'),
  'savepoint unit': writer.prepare('savepoint unit'),
  'release unit': writer.prepare('release unit'),
  'rollback to unit': writer.prepare('rollback to unit'),
})

/** Makes the files readable by their owner only: users of sandboxes may pass through the folder. */
function ownersOnly(path: string): void {
  closeSync(openSync(path, 'a', 0o600))
  for (const file of [path, `${path}-wal`, `${path}-shm`])
    if (existsSync(file)) chmodSync(file, 0o600)
}

/** Holds the folder by a file lock of the kernel, which ends with this process. */
function holdAlone(path: string): DatabaseSync {
  const guard = new DatabaseSync(path)
  try {
    guard.exec('pragma journal_mode = delete; begin exclusive')
    // Attack: whoever may read the file could lock it, and keep the next start away.
    chmodSync(path, 0o600)
  } catch (cause) {
    guard.close()
    throw new Error(
      `another server is using ${path.replace(/\.lock$/, '')}: stop it, or give this one its own DATA_DIR`,
      { cause },
    )
  }
  return guard
}
