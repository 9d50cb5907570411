import type { Queries, Reads } from './database.ts'

/** Rows of one noun: over a reading connection what reads them, within a unit what writes them too. */
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
  /** For a reading connection the writing functions are there too; its type does not offer them. */
  function open(db: Reads): Reading & Writing {
    return Object.assign(reads(db), writes(db as Queries))
  }
  return open
}
