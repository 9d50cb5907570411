/** The database of a tenant as callers hold it. Each statement and unit opens the file when it is closed. */
import type { CompiledQuery } from 'kysely'
import type { Database, Owners, Queries } from '../database.ts'
import { sqliteQueries } from '../sqlite.ts'

/** Runs the work on the open file. `isWriting`: first records in control that jobs have to look at the database. */
export type UseFile = <T>(
  work: (database: Database) => Promise<T>,
  isWriting?: boolean,
) => Promise<T>

export function tenantFile(use: UseFile, owners: Owners, close: () => Promise<void>): Database {
  const run = (query: CompiledQuery) => use(({ read }) => (read as Queries).executeQuery(query))
  const write = <T>(unit: (tx: Queries) => Promise<T>): Promise<T> =>
    use((database) => database.write(unit), true)
  return {
    dialect: 'sqlite',
    read: sqliteQueries(
      async <Row>(query: CompiledQuery<Row>) => (await run(query)).rows as Row[],
      readingDriver(run),
    ),
    write,
    writeStatement: write,
    owners,
    close,
  }
}

/** The driver of reads that are built for one request. */
function readingDriver(
  run: (query: CompiledQuery) => Promise<{ rows: unknown[] }>,
): Parameters<typeof sqliteQueries>[1] {
  const refuse = async () => {
    throw new Error('transactions are opened by write(unit) alone')
  }
  const executeQuery = async <Row>(query: CompiledQuery) => ({
    rows: (await run(query)).rows as Row[],
  })
  const connection = {
    executeQuery,
    async *streamQuery<Row>(query: CompiledQuery) {
      yield await executeQuery<Row>(query)
    },
  }
  return {
    init: async () => {},
    acquireConnection: async () => connection,
    releaseConnection: async () => {},
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
    destroy: async () => {},
  }
}
