/** Inserts rows whose numbers come from a counter in another row, in the same step as the counter's update. */
import type { Compilable, OperationNodeSource, RawBuilder } from 'kysely'
import { ExpressionWrapper, sql } from 'kysely'
import type { Connection } from './database.ts'
import { dialectOf } from './dialect.ts'
import type { SlotFor } from './statement.ts'
import { statementByForm, fewRows, insertRows, statement } from './statement.ts'
import type { Tables } from './tables.ts'

type CounterBuild<Values, Row> = (
  db: Connection,
  slot: SlotFor<Values>,
) => Compilable<Row> & OperationNodeSource

/** A further statement of the same step. It must change nothing where `isFound` is false. */
type CompanionBuild<Values> = (
  db: Connection,
  slot: SlotFor<Values>,
  isFound: RawBuilder<boolean>,
) => Compilable & OperationNodeSource

export type CounterStatements<Values, Counter> = {
  /** Moves the counters of one row and returns their new values. Without a row nothing is inserted. */
  update: CounterBuild<Values, Counter>
  beside?: CompanionBuild<Values> | undefined
}

type NumberedRow = Record<string, string | number | null>
type CountedRows<Values> = { values: Values; rows: readonly NumberedRow[] }

/** True when `countedInsertion` inserts so many rows by one statement on Postgres, for `Database.writeStatement`. */
export const fitsOneStatement = (rows: number): boolean => rows <= mostRows

/** Most rows of the one statement. Above `fewRows` it has no name, because there are many forms and each is rare. */
const mostRows = 64

/** True when `countedInsertion` uses the one statement over this connection. */
export const insertsAtOnce = (tx: Connection, rows: number): boolean =>
  rows > 0 && fitsOneStatement(rows) && dialectOf(tx) === 'postgres'

/** The table expression with the new counters, for the companion statement on Postgres. */
export const counterTable = sql.table('counter')

/**
 * Updates a counter and inserts rows; resolves with the new counters. `numbered` maps each numbered column to its
 * counter: a row gives the distance from the counter's new value. `build` is called once for each form and dialect.
 */
export function countedInsertion<
  Values,
  Counter extends object,
  Form extends readonly (string | number | boolean)[],
>(
  table: keyof Tables,
  numbered: Readonly<Record<string, keyof Counter & string>>,
  build: (...form: Form) => CounterStatements<Values, Counter>,
): (
  tx: Connection,
  form: Form,
  values: Values,
  rows: readonly NumberedRow[],
) => Promise<Counter | undefined> {
  const statements = statementByForm((...form: Form) => {
    const built = build(...form)
    const { update, beside } = built
    return {
      update: statement(update),
      beside: beside && statement<Values, unknown>((db, slot) => beside(db, slot, sql`1 = 1`)),
      atOnce: statementByForm((count: number, ...columns: readonly string[]) =>
        atOnceStatement(table, numbered, built, columns, count),
      ),
    }
  })

  return async (tx, form, values, rows) => {
    const [first] = rows
    const { update, beside, atOnce } = statements(...form)
    if (first && insertsAtOnce(tx, rows.length))
      return (await atOnce(rows.length, ...Object.keys(first))(tx, { values, rows }))[0]
    const [counter] = await update(tx, values)
    if (!counter) return undefined
    await beside?.(tx, values)
    const all = rows.map((row) => {
      const counts = Object.entries(numbered).map(([column, by]) => [
        column,
        Number(counter[by]) + Number(row[column]),
      ])
      return { ...row, ...Object.fromEntries(counts) } as Tables[typeof table]
    })
    await insertRows(tx, table, all)
    return counter
  }
}

/** Update and insertion as one statement. Postgres only: SQLite has no insert within a `with`. */
function atOnceStatement<Values, Counter extends object>(
  table: keyof Tables,
  numbered: Readonly<Record<string, keyof Counter & string>>,
  { update, beside }: CounterStatements<Values, Counter>,
  columns: readonly string[],
  count: number,
) {
  const build = (tx: Connection, slot: SlotFor<CountedRows<Values>>) => {
    const own: SlotFor<Values> = (pick) => slot(({ values }) => pick(values))
    const node = (each: OperationNodeSource) => new ExpressionWrapper(each.toOperationNode())
    const rows = Array.from({ length: count }, (_, index) => {
      const values = columns.map((column): RawBuilder<unknown> => {
        const value = slot(({ rows }) => rows[index]?.[column])
        return column in numbered ? sql`${value}::bigint` : sql`${value}::text`
      })
      return sql`(${sql.join(values)})`
    })
    const given = columns.map((column) => {
      const by = numbered[column]
      return by === undefined
        ? sql`given.${sql.ref(column)}`
        : sql`counter.${sql.ref(by)} + given.${sql.ref(column)}`
    })
    const names = sql.join(columns.map((column) => sql.ref(column)))
    const isFound = sql<boolean>`exists (select 1 from ${counterTable})`
    const also = beside ? sql`, beside as (${node(beside(tx, own, isFound))})` : sql``
    return sql<Counter>`
      with counter as (${node(update(tx, own))})${also},
        inserted as (insert into ${sql.table(table)} (${names})
          select ${sql.join(given)} from counter, (values ${sql.join(rows)}) as given (${names}))
      select * from counter`.compile(tx)
  }
  return statement(build, { isNamed: count <= fewRows })
}
