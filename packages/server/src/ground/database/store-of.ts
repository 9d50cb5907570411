import type { Queries, Reads } from './database.ts'

/** The store of one noun: reads over a reading connection, reads and writes within a unit. */
export type Store<Reading, Writing> = {
  (tx: Queries): Reading & Writing
  (db: Reads): Reading
}

/** A connection, or a unit, has each store once. */
export function defineStore<Reading extends object, Writing extends object>(
  reads: (db: Reads) => Reading,
  writes: (tx: Queries) => Writing,
): Store<Reading, Writing> {
  const opened = new WeakMap<Reads, Reading & Writing>()
  function open(tx: Queries): Reading & Writing
  function open(db: Reads): Reading
  /** A reading connection has the writing functions as well, and its type hides them. */
  function open(db: Reads): Reading & Writing {
    const known = opened.get(db)
    if (known) return known
    const store = Object.assign(reads(db), writes(db as Queries))
    opened.set(db, store)
    return store
  }
  return open
}
