import { chmodSync, closeSync, existsSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { SQLInputValue, StatementSync } from 'node:sqlite'
import { Kysely, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely'
import { StorageError } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import { eventLoop } from '../core/loop.ts'
import type { Database, Queries } from './database.ts'
import { NamedSqliteAdapter } from './dialect.ts'
import { isMigrated, migrate } from './migrate.ts'
import { runDirectly } from './statement.ts'
import type { Tables } from './tables.ts'
import { unitQueue } from './units.ts'

const cachedStatements = 1000

/** SQLite's primary result codes: a lock held elsewhere for too long, a disk that fails, a file that cannot be opened. */
const away = new Set([5, 6, 10, 14])
const full = 13

/** Does it, and throws a disk that is full or fails as a `StorageError`. */
function named<T>(step: () => T): T {
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

/** Statements are prepared once; everything happens within the call, so awaiting it costs only microtasks. */
class Connection implements DatabaseConnection {
  readonly #db: DatabaseSync
  readonly #statements = new Map<string, { statement: StatementSync; rows: boolean }>()

  readonly #check: () => void

  /** `check` is called before each statement, and may refuse it. */
  constructor(db: DatabaseSync, check: () => void) {
    this.#db = db
    this.#check = check
  }

  #prepare(sql: string) {
    const known = this.#statements.get(sql)
    if (known) return known
    const statement = this.#db.prepare(sql)
    const prepared = { statement, rows: statement.columns().length > 0 }
    if (this.#statements.size >= cachedStatements) this.#statements.clear()
    this.#statements.set(sql, prepared)
    return prepared
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return this.run(query)
  }

  run<R>({ sql, parameters }: CompiledQuery): QueryResult<R> {
    this.#check()
    const values = parameters as SQLInputValue[]
    return named(() => {
      const { statement, rows } = this.#prepare(sql)
      if (rows) return { rows: statement.all(...values) as R[] }
      const { changes } = statement.run(...values)
      return { rows: [], numAffectedRows: BigInt(changes) }
    })
  }

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    yield await this.executeQuery<R>(query)
  }
}

/** No transactions of its own: the writer's are opened by the queue of units, readers need none. */
function driver(connection: Connection, transaction: (step: string) => void): Driver {
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

const queries = (
  db: DatabaseSync,
  transaction: (step: string) => void,
  check = () => {},
): Queries => {
  const connection = new Connection(db, check)
  const adapter = new NamedSqliteAdapter()
  runDirectly(adapter, <Row>(query: CompiledQuery<Row>) => connection.run<Row>(query).rows)
  return new Kysely<Tables>({
    dialect: {
      createDriver: () => driver(connection, transaction),
      createQueryCompiler: () => new SqliteQueryCompiler(),
      createAdapter: () => adapter,
      createIntrospector: (kysely) => new SqliteIntrospector(kysely),
    },
  })
}

const refuse = () => {
  throw new Error('transactions are opened by write(unit) alone')
}

/**
 * A file, one writing connection and one reading. A commit is on disk when it returns (WAL, synchronous FULL).
 * A second server on the same file is refused, which also means that every owner but this one is dead. Without
 * `alone` it may be open elsewhere: for a command beside a running server, which holds no leases.
 */
export async function sqliteDatabase(path: string, { alone = true } = {}): Promise<Database> {
  const guard = alone ? holdAlone(`${path}.lock`) : undefined
  ownersOnly(path)
  const writer = new DatabaseSync(path)
  writer.exec(
    'pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on; pragma busy_timeout = 5000; pragma secure_delete = on',
  )
  try {
    const db = queries(writer, (step) => writer.exec(step))
    if (!(await isMigrated(db))) await migrate(db)
  } catch (error) {
    writer.close()
    guard?.close()
    throw error
  }
  const reader = new DatabaseSync(path)
  reader.exec('pragma query_only = on; pragma busy_timeout = 5000')
  const self = newId('process')
  const read = queries(reader, refuse)
  const tx = queries(writer, refuse, () => units.check())
  const units = unitQueue(tx, (statement) => named(() => writer.exec(statement)), eventLoop)
  return {
    dialect: 'sqlite',
    read,
    write: units.write,
    once: units.write,
    owners: { self, dead: async (owners) => owners.filter((owner) => owner !== self) },
    async close() {
      await units.drained()
      reader.close()
      writer.close()
      guard?.close()
    },
  }
}

/** The folder may be crossed by the users of sandboxes; what SQLite lays beside its file gets the same mode. */
function ownersOnly(path: string): void {
  closeSync(openSync(path, 'a', 0o600))
  for (const file of [path, `${path}-wal`, `${path}-shm`])
    if (existsSync(file)) chmodSync(file, 0o600)
}

/** Held by the kernel's file lock, so that it is free the moment this process is gone. */
function holdAlone(path: string): DatabaseSync {
  const guard = new DatabaseSync(path)
  try {
    guard.exec('pragma journal_mode = delete; begin exclusive')
  } catch (cause) {
    guard.close()
    throw new Error(
      `another server is using ${path.replace(/\.lock$/, '')}: stop it, or give this one its own DATA_DIR`,
      { cause },
    )
  }
  return guard
}
