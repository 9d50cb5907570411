import type { Dialect, Driver, Kysely, QueryExecutorProvider } from 'kysely'
import { PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, SqliteAdapter } from 'kysely'

export type DialectName = 'sqlite' | 'postgres'

/** An adapter that names its dialect. A connection shares the adapter with its transactions. */
export class NamedSqliteAdapter extends SqliteAdapter {
  readonly dialect: DialectName = 'sqlite'

  /** SQLite rolls a migration back as a whole, so that a killed process leaves no part of it. */
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

class NamedPostgresAdapter extends PostgresAdapter {
  readonly dialect: DialectName = 'postgres'
}

/** The Postgres dialect over a driver of this service. */
export class NamedPostgresDialect implements Dialect {
  readonly adapter = new NamedPostgresAdapter()
  readonly #driver: Driver
  constructor(driver: Driver) {
    this.#driver = driver
  }
  createDriver(): Driver {
    return this.#driver
  }
  createQueryCompiler(): PostgresQueryCompiler {
    return new PostgresQueryCompiler()
  }
  createAdapter(): NamedPostgresAdapter {
    return this.adapter
  }
  createIntrospector<DB>(db: Kysely<DB>): PostgresIntrospector {
    return new PostgresIntrospector(db)
  }
}

export function dialectOf(db: QueryExecutorProvider): DialectName {
  const { adapter } = db.getExecutor()
  if (adapter instanceof NamedSqliteAdapter || adapter instanceof NamedPostgresAdapter)
    return adapter.dialect
  throw new Error('the connection does not name its dialect')
}
