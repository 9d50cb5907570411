/** A database with the rows of a tenant, for commands that copy all of them. */
import type { Queries, Reads } from '../database.ts'
import type { PostgresPlace } from '../postgres.ts'
import { postgresTransaction } from '../postgres.ts'
import { sqliteTransaction } from '../sqlite.ts'

export type RowPlace = {
  /** Runs reads that all see one moment. */
  reading<T>(work: (db: Reads) => Promise<T>): Promise<T>
  /** Runs one transaction without a time limit. */
  writing<T>(work: (tx: Queries) => Promise<T>): Promise<T>
}

export const sqliteRows = (path: string): RowPlace => ({
  reading: (work) => sqliteTransaction(path, { isReading: true }, work),
  writing: (work) => sqliteTransaction(path, { isReading: false }, work),
})

export const postgresRows = (place: PostgresPlace): RowPlace => ({
  reading: (work) => postgresTransaction(place, { isReading: true }, work),
  writing: (work) => postgresTransaction(place, { isReading: false }, work),
})
