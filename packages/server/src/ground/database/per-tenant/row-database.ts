/** A database with the rows of a tenant, for commands that copy all of them. */
import type { Queries, Reads } from '../database.ts'
import type { PostgresSchemaTarget } from '../postgres.ts'
import { postgresTransaction } from '../postgres.ts'
import { sqliteTransaction } from '../sqlite.ts'

export type RowDatabase = {
  /** Runs reads that all see one moment. */
  reading<T>(work: (db: Reads) => Promise<T>): Promise<T>
  /** Runs one transaction without a time limit. */
  writing<T>(work: (tx: Queries) => Promise<T>): Promise<T>
}

export const sqliteRows = (path: string): RowDatabase => ({
  reading: (work) => sqliteTransaction(path, { isReading: true }, work),
  writing: (work) => sqliteTransaction(path, { isReading: false }, work),
})

export const postgresRows = (schema: PostgresSchemaTarget): RowDatabase => ({
  reading: (work) => postgresTransaction(schema, { isReading: true }, work),
  writing: (work) => postgresTransaction(schema, { isReading: false }, work),
})
