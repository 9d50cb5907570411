/** Several statements for Postgres in one round trip. */
import type { Connection, ResultBuilder, Submittable } from 'pg'
import pg from 'pg'

export type BatchStatement = {
  text: string
  values: readonly unknown[]
  /** Postgres parses and plans a statement with a name once for each connection. */
  name?: string | undefined
}

type BatchCallback = (error: Error | undefined, results?: ResultBuilder[]) => void

/** What `pg` calls on the query whose answer it reads, and what its own queries offer beyond their types. */
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

/** A connection's record of names, which `pg` keeps. */
type NamedStatements = Connection & { submittedNamedStatements: Record<string, unknown> }

const isReader = (query: object): query is AnswerReader => 'prepare' in query

/**
 * The statements are sent together, with one end: Postgres runs none of those behind one that fails. So a transaction
 * that could not begin runs no statement outside of it. `done` is called once, with the result of each.
 */
export class StatementBatch implements Submittable {
  readonly texts: string[]
  /** How long the answer may take; `pg` reads it. */
  readonly query_timeout: number
  /** `pg` wraps it, to end its own timer. */
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

  /** The statement whose answer is read; `pg` remembers the name of what was parsed by these two. */
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
    // Alone it may be a text of several statements, which has no parameters.
    if (others.length === 0) return first?.submit(connection)
    // Each query would end itself.
    const unended = Object.create(connection, { sync: { value() {} } }) as Connection
    connection.stream.cork()
    try {
      for (const query of this.#queries) {
        query.prepare(unended)
        // A value that cannot be sent: nothing goes on without its statement.
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

  /** The query hands its result to the callback above. */
  #endCurrent(connection: Connection): void {
    this.#current?.handleReadyForQuery(connection)
    this.#at++
  }

  handleError(error: Error, connection: NamedStatements): void {
    // Those behind were sent, and Postgres has not read them.
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
