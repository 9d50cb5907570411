import type { QueryExecutorProvider } from 'kysely'
import { PostgresAdapter, PostgresDialect, SqliteAdapter } from 'kysely'

export type DialectName = 'sqlite' | 'postgres'

/** An adapter is the part of a connection that its transactions have too. */
export class NamedSqliteAdapter extends SqliteAdapter {
  readonly dialect: DialectName = 'sqlite'

  /** SQLite takes a migration back as a whole, so that a process that is killed in a migration leaves nothing of it. */
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

class NamedPostgresAdapter extends PostgresAdapter {
  readonly dialect: DialectName = 'postgres'
}

export class NamedPostgresDialect extends PostgresDialect {
  override createAdapter(): NamedPostgresAdapter {
    return new NamedPostgresAdapter()
  }
}

export function dialectOf(db: QueryExecutorProvider): DialectName {
  const { adapter } = db.getExecutor()
  if (adapter instanceof NamedSqliteAdapter || adapter instanceof NamedPostgresAdapter)
    return adapter.dialect
  throw new Error('the connection does not name its dialect')
}
