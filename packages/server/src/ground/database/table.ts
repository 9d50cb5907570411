/**
 * The declaration of a table: where its rows lie, what removes them, its key and its columns. The types of rows and all
 * that the code knows of a table follow from it. Migrations make the tables; a test compares both.
 */
import type { Json } from '../core/text/json-text.ts'
import type { Sealed } from '../core/security/seal.ts'

declare const held: unique symbol

/** A column whose values are `Value`s. Times are ISO text as on the wire; `…_ms` and `expires_at` of leases are milliseconds. */
export type Column<Value = unknown> = {
  readonly form: 'text' | 'number'
  /** The column is JSON, which `rows()` reads and writes. A `record` is at most 1 MiB. */
  readonly json?: 'record' | 'value'
  /** The column holds sealed values, which the audit leaves out. */
  readonly isSealed?: true
  /** The values may be long. Their bytes count towards a page of a list. */
  readonly isLong?: true
  readonly isNullable?: true
  readonly [held]?: Value
}

type OptionalColumn<Value> = Column<Value> & { readonly isOptional: true }

export const text = <Value extends string = string>(): Column<Value> => ({ form: 'text' })
export const number = <Value extends number = number>(): Column<Value> => ({ form: 'number' })
export const json = <Value>(): Column<Json<Value>> => ({ form: 'text', json: 'value' })
export const record = <Value>(): Column<Json<Value>> => ({ form: 'text', json: 'record' })
export const sealed = (): Column<Sealed> => ({ form: 'text', isSealed: true })
/** JSON of sealed values by name. */
export const sealedJson = <Value extends Partial<Record<string, Sealed>>>(): Column<
  Json<Value>
> => ({
  form: 'text',
  json: 'value',
  isSealed: true,
})

export const nullable = <Value>(column: Column<Value>): Column<Value | null> => ({
  ...(column as Column<Value | null>),
  isNullable: true,
})
export const long = <Value>(column: Column<Value>): Column<Value> => ({ ...column, isLong: true })
/** A statement that inserts a row may leave the column out. */
export const optional = <Value>(column: Column<Value>): OptionalColumn<Value> => ({
  ...column,
  isOptional: true,
})

type Columns = Readonly<Record<string, Column>>

/**
 * `control`: rows that are read before the tenant is known, or that belong to none. `tenant`: rows of the tenant's own
 * database. `each`: every database has its own rows.
 */
export type RowsLocation = 'control' | 'tenant' | 'each'

/**
 * The lease of a row, for work that one process at a time may do. Without an `owner` nobody names the process: a number
 * in the row fences it. `isWholeRow`: the row is only the lease, so that a claim inserts the row and a release deletes it.
 */
export type LeaseColumns<Name extends string = string> = {
  owner?: Name
  expires: Name
  isWholeRow?: true
}

export type TableDeclaration<Of extends Columns = Columns> = {
  rows: RowsLocation
  /** The columns of the primary key. */
  key: readonly (keyof Of & string)[]
  columns: Of
  /** Names a row in error messages, for tables that `rows()` reads. */
  noun?: string
  /** True: rows with a `deleted_at` are hidden from reads. */
  isHidden?: true
  /** What removes the rows of a deleted workspace. Without it, the job that removes the workspace does. */
  removed?: 'with its session' | { elsewhere: string }
  lease?: LeaseColumns<keyof Of & string>
  /** The one database that has the table. */
  only?: 'postgres'
}

export const table = <
  const Of extends Columns,
  const Declaration extends Omit<TableDeclaration<Of>, 'columns'>,
>(
  declaration: Declaration & { columns: Of },
): Declaration & { columns: Of } => declaration

type ValueOf<Of> = Of extends Column<infer Value> ? Value : never
type OptionalName<Of> = {
  [Name in keyof Of]: Of[Name] extends { readonly isOptional: true } ? Name : never
}[keyof Of]

/** A row as it is stored. */
export type RowFor<Of> = {
  -readonly [Name in Exclude<keyof Of, OptionalName<Of>>]: ValueOf<Of[Name]>
} & { -readonly [Name in OptionalName<Of>]?: ValueOf<Of[Name]> }
