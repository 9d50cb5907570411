import type { Kysely } from 'kysely'
import { completeEach } from '../core/failures.ts'
import type { Notifying } from '../core/notice.ts'
import type { DialectName } from './dialect.ts'
import type { Tables } from './tables.ts'

/** Selects only: on Postgres a write through the reading connection would be committed outside of any unit. */
export type Reads = Pick<Kysely<Tables>, 'selectFrom' | 'selectNoFrom' | 'fn' | 'introspection'>

/** Reads and writes over one connection. */
export type Connection = Kysely<Tables>

/** Reads and writes of a unit, in its transaction. */
export type Queries = Connection & Notifying

export interface Database {
  readonly dialect: DialectName
  /** Sees what was committed before each statement; cannot write on SQLite. */
  readonly read: Reads
  /**
   * Runs the unit in a transaction, resolves after the commit is durable, and rejects with nothing written when the
   * unit throws. A unit awaits only its `tx`, may run again, and notifies by `tx.afterCommit` alone.
   */
  write: <T>(unit: (tx: Queries) => Promise<T>) => Promise<T>
  /** Like `write`, for a unit of one statement. On Postgres it needs no round trips for begin and commit. */
  writeStatement: <T>(statement: (db: Queries) => Promise<T>) => Promise<T>
  /** The processes that may hold leases. */
  readonly owners: Owners
  close(): Promise<void>
}

/** A tenant with the database that holds its rows. */
export type TenantRef = { db: Database; tenant: string }

/** Names processes as owners of leases, and tells which of them are dead. */
export interface Owners {
  /** This process, new at every start. */
  readonly self: string
  /** The given owners that are certainly dead. Call it outside of units. */
  dead(owners: readonly string[]): Promise<string[]>
}

/** Databases by tenant, so that each tenant may have one of its own. Keys and workspaces are in `control`. */
export interface Databases {
  readonly control: Database
  /** True when the rows of all tenants are in the control database. */
  readonly isShared: boolean
  /** The tenant's database. Call it once for each piece of work, because the database may have to be opened first. */
  open(tenant: string): Promise<Database>
  /** Each database in which a job may have work, now or within so many milliseconds. */
  due(aheadMs?: number): AsyncIterable<Database>
  /** All databases. Using a database that cannot be opened rejects. */
  every(): Promise<Database[]>
  /** For a job that removes old rows and runs so often: like `due`, and each other database once within hours. */
  walk(everyMs: number): () => AsyncIterable<Database>
  /** Removes the database of a deleted workspace, with all its rows. */
  forget(tenant: string): Promise<void>
  /** Runs the work once on each database of this process: now, or before the database is first used. */
  prepare(work: (database: Database) => Promise<void>): Promise<void>
  close(): Promise<void>
}

/** The databases of work on workspaces that a caller names. */
export type OpenDatabases = Pick<Databases, 'control' | 'open'>

export function oneDatabase(database: Database): Databases {
  async function* itself() {
    yield database
  }
  return {
    control: database,
    isShared: true,
    open: async () => database,
    due: itself,
    every: async () => [database],
    walk: () => itself,
    forget: async () => {},
    prepare: (work) => work(database),
    close: () => database.close(),
  }
}

/**
 * Runs the work on each database. Returns true when it returned true for all. A database that fails does not stop the
 * work on the others: throws at the end.
 */
export const runOnEach: (
  databases: AsyncIterable<Database>,
  work: (database: Database) => Promise<boolean>,
) => Promise<boolean> = completeEach
