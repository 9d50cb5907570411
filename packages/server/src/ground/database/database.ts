import type { Kysely } from 'kysely'
import type { DialectName } from './dialect.ts'
import type { Tables } from './tables.ts'

/** Selects alone: on Postgres a write through the reading connection would be committed outside of any unit. */
export type Reads = Pick<Kysely<Tables>, 'selectFrom' | 'selectNoFrom' | 'fn' | 'introspection'>

/** Reads and writes over one connection; inside a unit, its transaction. */
export type Queries = Kysely<Tables>

export interface Database {
  readonly dialect: DialectName
  /** Sees what was committed before each statement; cannot write on SQLite. */
  readonly read: Reads
  /**
   * Runs the unit in a transaction, resolves after the commit is durable, and rejects with nothing written when the
   * unit throws. A unit awaits only its `tx`, may run more than once, and leaves rings to its caller.
   */
  write<T>(unit: (tx: Queries) => Promise<T>): Promise<T>
  /** As `write`, for a unit that is one statement: on Postgres without round trips for a beginning and an end. */
  writeStatement<T>(statement: (db: Queries) => Promise<T>): Promise<T>
  /** Which processes are alive, as leases name them. */
  readonly owners: Owners
  close(): Promise<void>
}

/** Who holds leases. A dead process is known at once where the database can tell. */
export interface Owners {
  /** This process, new at every start. */
  readonly self: string
  /** Those of the given that are certainly dead; called outside of units. */
  dead(owners: readonly string[]): Promise<string[]>
}

/** Every store gets its database by tenant, so that a tenant may have one of its own; keys and workspaces are above. */
export interface Databases {
  readonly control: Database
  /** Whether tenants share the database of control. */
  readonly isShared: boolean
  /** The tenant's database. Open it once for each piece of work: a database of the tenant's own may have to be opened first. */
  open(tenant: string): Promise<Database>
  /** Each database once in which a job may have something to do now, or in so many milliseconds. */
  due(aheadMs?: number): AsyncIterable<Database>
  /** Each database, for work that needs to know them all. It rejects for a database that cannot be opened when it is used. */
  every(): Promise<Database[]>
  /** For a job that looks for old rows, and runs so often: as `due`, and within hours each other database too. */
  walk(everyMs: number): () => AsyncIterable<Database>
  /** The database of a workspace that was deleted, with all that is left in it, is removed. */
  forget(tenant: string): Promise<void>
  /** The work is done once on each database of this process: now, or before the database is used. */
  prepare(work: (database: Database) => Promise<void>): Promise<void>
  close(): Promise<void>
}

/** For work on workspaces that a caller names. */
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

/** True where the work is complete on every database. */
export async function runOnEach(
  databases: AsyncIterable<Database>,
  work: (database: Database) => Promise<boolean>,
): Promise<boolean> {
  let isComplete = true
  for await (const database of databases) isComplete = (await work(database)) && isComplete
  return isComplete
}
