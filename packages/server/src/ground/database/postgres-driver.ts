/** Connects the query builder to Postgres. A unit takes as few round trips as its results allow. */
import type {
  CompiledQuery,
  DatabaseConnection,
  Driver,
  QueryResult,
  TransactionSettings,
} from 'kysely'
import type { ResultBuilder } from 'pg'
import pg from 'pg'
import { StorageError } from '../core/errors.ts'
import { answerMs, postgresError } from '../core/postgres-client.ts'
import type { BatchStatement } from './postgres-batch.ts'
import { StatementBatch } from './postgres-batch.ts'
import { isResultless, statementName } from './statement.ts'

/** 64-bit integers as numbers: counters here stay far below 2^53. */
export const postgresTypes = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format),
} as pg.CustomTypesConfig

const begin: BatchStatement = { text: 'begin', values: [], name: 'begin_unit' }
const commit: BatchStatement = { text: 'commit', values: [], name: 'commit_unit' }

type DriverOptions = {
  /** Milliseconds of one statement. 0: no limit. */
  statementMs: number
  /** True when each statement outside of a transaction commits by itself. */
  isSingle: boolean
  /** The schema of the tables. It is set for one transaction at a time, so that none stays on a connection. */
  schema?: string | undefined
}

const inSchema = (schema: string): BatchStatement => ({
  text: "select set_config('search_path', $1, true)",
  values: [`"${schema}"`],
  name: 'schema_of_unit',
})

export function postgresDriver(pool: pg.Pool, options: DriverOptions): Driver {
  const connections = new WeakMap<pg.PoolClient, UnitConnection>()
  const known = (connection: DatabaseConnection): UnitConnection => {
    if (connection instanceof UnitConnection) return connection
    throw new Error('a connection of another driver')
  }
  return {
    init: async () => {},
    async acquireConnection() {
      const client = await pool.connect().catch((error: unknown) => {
        throw postgresError(error)
      })
      let connection = connections.get(client)
      if (!connection) connections.set(client, (connection = new UnitConnection(client, options)))
      return connection
    },
    releaseConnection: async (connection) => known(connection).release(),
    async beginTransaction(connection, settings: TransactionSettings) {
      if (settings.isolationLevel || settings.accessMode)
        throw new Error('transactions have the usual isolation alone')
      known(connection).begin()
    },
    commitTransaction: (connection) => known(connection).commit(),
    rollbackTransaction: (connection) => known(connection).rollback(),
    async destroy() {
      if (!pool.ending) await pool.end()
    },
  }
}

/**
 * A connection for units. A transaction begins with its first statement, in one round trip. A statement without a read
 * result waits for the next statement or the commit, which rejects when the waiting one fails.
 */
class UnitConnection implements DatabaseConnection {
  readonly #client: pg.PoolClient
  readonly #options: DriverOptions
  /** Statements that are sent before the next one. */
  #waiting: BatchStatement[] = []
  #isWithin = false
  #isBegun = false
  readonly #ahead: readonly BatchStatement[]
  /** The error of a lost connection. Without it, the rollback after a lost commit would hide the loss. */
  #lost: unknown

  constructor(client: pg.PoolClient, options: DriverOptions) {
    this.#client = client
    this.#options = options
    this.#ahead = options.schema === undefined ? [] : [inSchema(options.schema)]
  }

  begin(): void {
    this.#isWithin = true
    this.#waiting = [begin, ...this.#ahead]
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { sql: text, parameters } = query
    const statement = { text, values: parameters, name: statementName(text) }
    if (this.#isWithin && isResultless(query)) {
      this.#waiting.push(statement)
      return { rows: [] }
    }
    return resultOf(await this.#run(statement))
  }

  /** A unit without a statement needs no transaction. */
  async commit(): Promise<void> {
    if (!this.#isBegun && this.#waiting.length <= 1 + this.#ahead.length) return this.#end()
    const { command } = await this.#run(commit, true)
    this.#end()
    if (command !== 'COMMIT')
      throw new Error('a unit went on after one of its statements had failed: nothing was written')
  }

  async rollback(): Promise<void> {
    const isBegun = this.#isBegun
    this.#end()
    if (isBegun) await this.#ask([{ text: 'rollback', values: [] }], false, [])
  }

  release(): void {
    this.#lost = undefined
    this.#client.release()
  }

  #end(): void {
    this.#isWithin = this.#isBegun = false
    this.#waiting = []
  }

  async #run(
    statement: BatchStatement,
    isCommit = this.#options.isSingle && !this.#isWithin,
  ): Promise<ResultBuilder> {
    if (statement.text.includes(';') && this.#waiting.length > 0) await this.#ask([], false)
    return this.#ask([statement], isCommit)
  }

  /** Runs the waiting statements and these, and returns the result of the last. */
  async #ask(
    statements: BatchStatement[],
    isCommit: boolean,
    // Postgres runs statements that are sent together as one implicit transaction.
    ahead = this.#isWithin ? this.#waiting : this.#ahead,
  ): Promise<ResultBuilder> {
    const all = [...ahead, ...statements]
    this.#waiting = []
    if (this.#isWithin) this.#isBegun = true
    try {
      const results = await this.#send(all)
      const last = results.at(-1)
      if (!last) throw new Error('Postgres has answered no statement')
      return last
    } catch (error) {
      const known = postgresError(error, isCommit)
      const isAnswered = error instanceof pg.DatabaseError
      // A late answer would be taken for the answer of a later statement.
      if (!isAnswered && !this.#lost) void this.#client.end()
      if (!isAnswered || known instanceof StorageError) this.#lost ??= known
      throw this.#lost ?? known
    }
  }

  #send(statements: BatchStatement[]): Promise<ResultBuilder[]> {
    const { statementMs } = this.#options
    const timeoutMs = statementMs > 0 ? statementMs * statements.length + answerMs : 0
    return new Promise((resolve, reject) => {
      const batch = new StatementBatch(
        statements,
        postgresTypes,
        timeoutMs,
        (error, results = []) => (error ? reject(error) : resolve(results)),
      )
      this.#client.query(batch)
    })
  }

  /** Not a cursor: yields all rows at once, because no caller streams. */
  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    yield await this.executeQuery<R>(query)
  }
}

const changing = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE'])

const resultOf = <R>({ command, rowCount, rows }: ResultBuilder): QueryResult<R> =>
  changing.has(command) ? { rows, numAffectedRows: BigInt(rowCount ?? 0) } : { rows }
