/** Several statements for Postgres in one round trip. */
import type { Connection, ResultBuilder, Submittable } from 'pg'
import pg from 'pg'

export type BatchStatement = {
  text: string
  values: readonly unknown[]
  /** Postgres parses and plans a named statement once for each connection. */
  name?: string | undefined
}

type BatchCallback = (error: Error | undefined, results?: ResultBuilder[]) => void

/** The methods that `pg` calls on the query whose answer it reads. Its own queries have them, beyond their types. */
type AnswerReader = Submittable & {
  text: string
  name: string | undefined
  prepare(connection: Connection): void
  handleRowDescription(message: unknown): void
  handleDataRow(message: unknown): void
  handleCommandComplete(message: unknown, connection: Connection): void
  handleReadyForQuery(connection: Connection): void
  handleError(error: Error, connection: Connection): void
}

/** A connection with the record of statement names that `pg` keeps. */
type NamedStatements = Connection & { submittedNamedStatements: Record<string, unknown> }

const isReader = (query: object): query is AnswerReader => 'prepare' in query

/**
 * Sends the statements together, with one sync: Postgres runs no statement after one that fails. So no statement runs
 * outside of a transaction that could not begin. `done` is called once, with the result of each statement.
 */
export class StatementBatch implements Submittable {
  readonly texts: string[]
  /** Milliseconds for the answer. `pg` reads this field. */
  readonly query_timeout: number
  /** `pg` wraps the callback, to end its own timer. */
  callback: BatchCallback
  readonly #queries: AnswerReader[]
  readonly #results: ResultBuilder[] = []
  #error: Error | undefined

  constructor(
    statements: readonly BatchStatement[],
    types: pg.CustomTypesConfig,
    timeoutMs: number,
    done: BatchCallback,
  ) {
    this.texts = statements.map(({ text }) => text)
    this.query_timeout = timeoutMs
    this.callback = once(done)
    this.#queries = statements.map(({ text, values, name }) => {
      const config = { text, values: [...values], types, ...(name !== undefined && { name }) }
      const query: object = new pg.Query(
        config,
        (error, result: ResultBuilder | ResultBuilder[]) => {
          if (error) this.#error ??= error
          else this.#results.push(...[result].flat())
        },
      )
      if (!isReader(query)) throw new Error('this version of pg prepares its queries otherwise')
      return query
    })
  }

  /** The statement whose answer is read. `pg` records the parsed statement by `name` and `text`. */
  get #current(): AnswerReader | undefined {
    return this.#queries[this.#at]
  }
  #at = 0
  get name(): string | undefined {
    return this.#current?.name
  }
  get text(): string {
    return this.#current?.text ?? ''
  }

  submit(connection: Connection): unknown {
    const [first, ...others] = this.#queries
    // A single query may be a text of several statements without parameters.
    if (others.length === 0) return first?.submit(connection)
    // Each query would send a sync of its own.
    const unended = Object.create(connection, { sync: { value() {} } }) as Connection
    connection.stream.cork()
    try {
      for (const query of this.#queries) {
        query.prepare(unended)
        // A value cannot be sent: the statements after it are not sent either.
        if (this.#error) break
      }
      connection.sync()
    } finally {
      connection.stream.uncork()
    }
    return null
  }

  handleRowDescription(message: unknown): void {
    this.#current?.handleRowDescription(message)
  }
  handleDataRow(message: unknown): void {
    this.#current?.handleDataRow(message)
  }
  handleCommandComplete(message: unknown, connection: Connection): void {
    this.#current?.handleCommandComplete(message, connection)
    if (this.#queries.length > 1) this.#endCurrent(connection)
  }

  /** The query passes its result to the callback of the constructor. */
  #endCurrent(connection: Connection): void {
    this.#current?.handleReadyForQuery(connection)
    this.#at++
  }

  handleError(error: Error, connection: NamedStatements): void {
    // Postgres skipped the statements after the failed one, so it did not parse their names.
    for (const { name } of this.#queries.slice(this.#at))
      if (name !== undefined) delete connection.submittedNamedStatements[name]
    this.callback(this.#error ?? error)
  }

  handleReadyForQuery(connection: Connection): void {
    if (this.#queries.length === 1) this.#endCurrent(connection)
    this.callback(this.#error, this.#results)
  }
}

function once(done: BatchCallback): BatchCallback {
  let isDone = false
  return (error, results) => {
    if (isDone) return
    isDone = true
    done(error, results)
  }
}
