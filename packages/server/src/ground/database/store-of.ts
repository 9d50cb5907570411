import type { Queries, Reads } from './database.ts'

/** The store of one noun: reads over a reading connection, reads and writes within a unit. */
export type Store<Reading, Writing> = {
  (tx: Queries): Reading & Writing
  (db: Reads): Reading
}

export function storeOf<Reading extends object, Writing extends object>(
  reads: (db: Reads) => Reading,
  writes: (tx: Queries) => Writing,
): Store<Reading, Writing> {
  function open(tx: Queries): Reading & Writing
  function open(db: Reads): Reading
  /** A reading connection has the writing functions as well, and its type hides them. */
  function open(db: Reads): Reading & Writing {
    return Object.assign(reads(db), writes(db as Queries))
  }
  return open
}
