/** Statements of the hot path: built and compiled once for each dialect, with new values for each call. */
import type { Compilable, CompiledQuery, DialectAdapter, RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Connection, Reads } from './database.ts'
import type { DialectName } from './dialect.ts'
import { dialectOf } from './dialect.ts'
import type { Tables } from './tables.ts'

/** A placeholder of a compiled statement, for a value of each call. */
class Slot<Values> {
  readonly pick: (values: Values) => unknown
  constructor(pick: (values: Values) => unknown) {
    this.pick = pick
  }
}

/** Creates the slot of one value. `pick` may compute the value. */
export type SlotFor<Values> = <T>(pick: (values: Values) => T) => RawBuilder<T>

/** Runs a compiled statement without Kysely's search for a connection, for a database with a single connection. */
export type RunDirectly = <Row>(query: CompiledQuery<Row>) => Row[] | Promise<Row[]>

const direct = new WeakMap<DialectAdapter, RunDirectly>()

export const setDirectRun = (adapter: DialectAdapter, run: RunDirectly): void =>
  void direct.set(adapter, run)

/** Names by the texts of statements. */
const names = new Map<string, string>()
/** Number of times that all names were renewed. */
let renewals = 0

/** The name under which a database may keep the statement prepared. Undefined: the statement may not come again. */
export function statementName(text: string): string | undefined {
  const name = names.get(text)
  return name === undefined ? undefined : `${name}_${renewals}`
}

/**
 * Renews all names when the error says that Postgres refuses a cached plan, because another process has migrated a
 * table. Returns true then: the statement may run again.
 */
export function renewNames(error: unknown): boolean {
  const isStale = error instanceof Error && 'code' in error && error.code === '0A000'
  if (isStale) renewals++
  return isStale
}

/** Queries without a result that is read. */
const resultless = new WeakSet<CompiledQuery>()

/** True when the query may wait for the next statement of its transaction. */
export const isResultless = (query: CompiledQuery): boolean => resultless.has(query)

type StatementOptions = {
  isNamed?: boolean
  /** No result is read. Within a unit on Postgres, an error then comes with the next statement or with the commit. */
  isResultless?: boolean
}

/**
 * `build` is called once for each dialect, so that a statement's form must not depend on its values; see
 * `statementByForm`. The returned function resolves with the rows.
 */
export function statement<Values, Row>(
  build: (db: Connection, slot: SlotFor<Values>) => Compilable<Row> | CompiledQuery<Row>,
  { isNamed = true, isResultless = false }: StatementOptions = {},
): (db: Connection, values: Values) => Promise<Row[]> {
  const known: Partial<Record<DialectName, CompiledQuery<Row>>> = {}

  const slot: SlotFor<Values> = <T>(pick: (values: Values) => T) =>
    sql.val(new Slot(pick)).$castTo<T>()

  return async (db, values) => {
    const { adapter, plugins } = db.getExecutor()
    const dialect = dialectOf(db)
    let compiled = known[dialect]
    if (!compiled) {
      const built = build(db, slot)
      known[dialect] = compiled = 'compile' in built ? built.compile() : built
      if (isNamed && !names.has(compiled.sql)) names.set(compiled.sql, `kept_${names.size}`)
    }
    const query = {
      ...compiled,
      parameters: compiled.parameters.map((each) => valueOf(each, values)),
    }
    if (isResultless) resultless.add(query)
    const run = plugins.length === 0 ? direct.get(adapter) : undefined
    if (run) return run<Row>(query)
    return (await db.executeQuery<Row>(query)).rows
  }
}

/** Like `statement`, for a select, which a reading connection runs too. */
export function selectStatement<Values, Row>(
  build: (db: Reads, slot: SlotFor<Values>) => Compilable<Row>,
): (db: Reads, values: Values) => Promise<Row[]> {
  const run = statement(build)
  return (db, values) => run(db as Connection, values)
}

/** The value of a slot, or the fixed parameter itself. */
const valueOf = <Values>(parameter: unknown, values: Values): unknown =>
  parameter instanceof Slot ? (parameter as Slot<Values>).pick(values) : parameter

/** Rows of one statement: both databases limit its parameters. */
const rowsAtOnce = 500

/** An insertion of up to so many rows has a prepared statement. */
export const fewRows = 32

/** Inserts rows of one table, each with the same columns, in their order. */
export async function insertRows<Table extends keyof Tables>(
  tx: Connection,
  table: Table,
  rows: readonly Tables[Table][],
): Promise<void> {
  const columns = Object.keys(rows[0] ?? {})
  for (let at = 0; at < rows.length; at += rowsAtOnce) {
    const some = rows.slice(at, at + rowsAtOnce)
    const insertion = some.length <= fewRows ? keptInsertion : insertionOf
    await insertion(table, some.length, ...columns)(tx, some)
  }
}

function insertionOf(table: string, count: number, ...columns: readonly string[]) {
  const build = (tx: Connection, slot: SlotFor<readonly object[]>) => {
    const rows = Array.from({ length: count }, (_, index) => {
      const values = columns.map((column) => slot((all) => Reflect.get(all[index] ?? {}, column)))
      return sql`(${sql.join(values)})`
    })
    const names = sql.join(columns.map((column) => sql.ref(column)))
    return sql`insert into ${sql.table(table)} (${names}) values ${sql.join(rows)}`.compile(tx)
  }
  const isFew = count <= fewRows
  return statement(build, { isNamed: isFew, isResultless: isFew })
}

const keptInsertion = statementByForm(insertionOf)

/** The values that a statement's form follows from. Lists come last, because forms of any length share one tree. */
type Form = readonly (string | number | boolean)[]
type FormNode<Statement> = {
  further: Map<Form[number], FormNode<Statement>>
  statement?: Statement
}

/** Creates a statement for each form when it is first needed. Use it for few forms, as all are kept. */
export function statementByForm<Values extends Form, Statement>(
  make: (...form: Values) => Statement,
): (...form: Values) => Statement {
  const root: FormNode<Statement> = { further: new Map() }
  return (...form) => {
    let node = root
    for (const value of form) {
      let next = node.further.get(value)
      if (!next) node.further.set(value, (next = { further: new Map() }))
      node = next
    }
    return (node.statement ??= make(...form))
  }
}
