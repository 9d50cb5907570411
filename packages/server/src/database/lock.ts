import type { SelectQueryBuilder } from 'kysely'
import type { Queries } from './database.ts'
import type { Tables } from './tables.ts'

/**
 * What the query reads stays as it is until the transaction ends. SQLite has one writer and no word for it; Postgres
 * would let another transaction delete a row that was just checked.
 */
export function holding<Table extends keyof Tables, Row>(
  tx: Queries,
  query: SelectQueryBuilder<Tables, Table, Row>,
): SelectQueryBuilder<Tables, Table, Row> {
  const isPostgres = tx.getExecutor().adapter.supportsTransactionalDdl
  return isPostgres ? query.forShare() : query
}
