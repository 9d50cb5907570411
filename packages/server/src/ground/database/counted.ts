/** A row that counts, and rows that take their numbers from it. */
import type { Compilable, OperationNodeSource, RawBuilder } from 'kysely'
import { ExpressionWrapper, sql } from 'kysely'
import type { Queries } from './database.ts'
import { dialectOf } from './dialect.ts'
import type { SlotFor } from './statement.ts'
import { byForm, fewRows, insertRows, statement } from './statement.ts'
import type { Tables } from './tables.ts'

type Build<Values, Row> = (
  db: Queries,
  slot: SlotFor<Values>,
) => Compilable<Row> & OperationNodeSource

export type Counting<Values, Counter> = {
  /** Moves the counters of one row and returns their new values. No row: nothing is removed or inserted. */
  update: Build<Values, Counter>
  /** Deletes rows in the same step. */
  remove?: Build<Values, unknown>
}

type Numbers = Record<string, string | number | null>
type Insertion<Values> = { values: Values; rows: readonly Numbers[] }

/** Whether `countedInsertion` inserts so many rows by one statement on Postgres, which suits `Database.once`. */
export const fitsOneStatement = (rows: number): boolean => rows <= fewRows

/**
 * Updates a counter and inserts rows. `numbered` names, for each numbered column of the rows, the counter it follows: a row gives its
 * distance from the counter's new value. `build` is called once for each form and database.
 */
export function countedInsertion<Values, Counter extends object>(
  table: keyof Tables,
  numbered: Readonly<Record<string, keyof Counter & string>>,
  build: (form: string) => Counting<Values, Counter>,
): (
  tx: Queries,
  form: string,
  values: Values,
  rows: readonly Numbers[],
) => Promise<Counter | undefined> {
  const updates = byForm((form: string) => statement(build(form).update))
  const removals = byForm((form: string) => {
    const { remove } = build(form)
    return remove && statement(remove)
  })
  const atOnce = byForm((key: string) => {
    const [form = '', count, columns = ''] = key.split('|')
    return atOnceStatement(table, numbered, build(form), columns.split(' '), Number(count))
  })

  return async (tx, form, values, rows) => {
    const [first] = rows
    if (first && fitsOneStatement(rows.length) && dialectOf(tx) === 'postgres') {
      const run = atOnce(`${form}|${rows.length}|${Object.keys(first).join(' ')}`)
      return (await run(tx, { values, rows }))[0]
    }
    const [counter] = await updates(form)(tx, values)
    if (!counter) return undefined
    await removals(form)?.(tx, values)
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

/** On Postgres alone: SQLite has no insert within a `with`. */
function atOnceStatement<Values, Counter extends object>(
  table: keyof Tables,
  numbered: Readonly<Record<string, keyof Counter & string>>,
  { update, remove }: Counting<Values, Counter>,
  columns: readonly string[],
  count: number,
) {
  return statement((tx: Queries, slot: SlotFor<Insertion<Values>>) => {
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
    const removal = remove
      ? sql`, removed as (${node(remove(tx, own))} and exists (select 1 from counter))`
      : sql``
    return sql<Counter>`
      with counter as (${node(update(tx, own))})${removal},
        inserted as (insert into ${sql.table(table)} (${names})
          select ${sql.join(given)} from counter, (values ${sql.join(rows)}) as given (${names}))
      select * from counter`.compile(tx)
  })
}
