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
  once<T>(statement: (db: Queries) => Promise<T>): Promise<T>
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
  /** The tenant's database. Open it once for each piece of work: a database of the tenant's own may have to be opened first. */
  open(tenant: string): Promise<Database>
  /** Each database once, for jobs. */
  all(): Database[]
}

export const oneDatabase = (database: Database): Databases => ({
  control: database,
  open: async () => database,
  all: () => [database],
})

/** True where the work is complete on every database. */
export async function onEvery(
  databases: Databases,
  work: (database: Database) => Promise<boolean>,
): Promise<boolean> {
  let isComplete = true
  for (const database of databases.all()) isComplete = (await work(database)) && isComplete
  return isComplete
}
