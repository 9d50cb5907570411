import type { DialectName } from '../../dialect.ts'

/** Parts of a statement that differ between the databases. */
export type TableForms = {
  /** A text that is compared by its bytes. */
  byBytes: string
  /** After the columns: the rows lie in the order of the primary key. Postgres has no such tables. */
  inOrder: string
}

export const tableForms: Readonly<Record<DialectName, TableForms>> = {
  sqlite: { byBytes: 'text', inOrder: ' without rowid' },
  postgres: { byBytes: 'text collate "C"', inOrder: '' },
}
