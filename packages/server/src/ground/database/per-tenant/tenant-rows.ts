/** All rows of a tenant, table by table, as the database has them: sealed values stay sealed. */
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Queries, Reads } from '../database.ts'
import { dialectOf } from '../dialect.ts'
import { selectRaw } from '../select-raw.ts'
import { insertRows } from '../statement.ts'
import type { TableName, Tables } from '../tables.ts'
import { declarationOf } from '../tables.ts'

export type AnyRow = Record<string, unknown>

/** Rows of one read: an event may have megabytes. */
const rowsAtOnce = 50

/** The column that names the tenant. */
const tenantColumn = (table: TableName): string => (table === 'workspaces' ? 'id' : 'tenant_id')

/** Yields the rows of a table in the order of the primary key, 50 at a time. */
export async function* readTableRows(
  db: Reads,
  table: TableName,
  tenant: string,
): AsyncGenerator<AnyRow[]> {
  const { key } = declarationOf(table)
  const columns = sql.join(key.map((name) => sql.ref(name)))
  let last: AnyRow | undefined
  for (;;) {
    const behind = last
      ? sql`and (${columns}) > (${sql.join(key.map((name) => last?.[name]))})`
      : sql``
    const rows: AnyRow[] = await selectRaw(
      db,
      sql<AnyRow>`select * from ${sql.table(table)} where ${sql.ref(tenantColumn(table))} = ${tenant}
        ${behind} order by ${columns} limit ${rowsAtOnce}`,
    )
    if (rows.length > 0) yield rows
    if (rows.length < rowsAtOnce) return
    last = rows.at(-1)
  }
}

export const putRows = (tx: Queries, table: TableName, rows: readonly AnyRow[]): Promise<void> =>
  insertRows(tx, table, rows as unknown[] as Tables[typeof table][])

export async function removeRows(tx: Queries, table: TableName, tenant: string): Promise<void> {
  await sql`delete from ${sql.table(table)} where ${sql.ref(tenantColumn(table))} = ${tenant}`.execute(
    tx,
  )
}

/** The number of rows and the sum of their hashes, which does not depend on their order. */
export type RowSum = { rows: number; sum: string }

export function rowSum() {
  let [rows, sum] = [0, 0n]
  return {
    add(row: AnyRow): void {
      const entries = Object.entries(row).toSorted(([a], [b]) => (a < b ? -1 : 1))
      const hash = createHash('sha256').update(JSON.stringify(entries)).digest('hex')
      rows++
      sum = BigInt.asUintN(256, sum + BigInt(`0x${hash}`))
    },
    result: (): RowSum => ({ rows, sum: sum.toString(16) }),
  }
}

export type RowSums = Partial<Record<TableName, RowSum>>

export async function sumTableRows(
  db: Reads,
  tables: readonly TableName[],
  tenant: string,
): Promise<RowSums> {
  const sums: RowSums = {}
  for (const table of tables) {
    const sum = rowSum()
    for await (const rows of readTableRows(db, table, tenant)) for (const row of rows) sum.add(row)
    sums[table] = sum.result()
  }
  return sums
}

/** Throws an error with the name of the first table whose sums differ. */
export function checkSums(expected: RowSums, found: RowSums, where: string): void {
  for (const [table, sum] of Object.entries(expected)) {
    const other = found[table as TableName]
    if (other?.rows !== sum.rows || other.sum !== sum.sum)
      throw new Error(
        `${where}: ${table} has ${other?.rows ?? 0} rows that are not the ${sum.rows} expected`,
      )
  }
}

/**
 * Runs the work without the triggers of these tables. The triggers would count the rows again, whose counters are
 * copied as rows. The triggers are back with the commit.
 */
export async function withoutTriggers<T>(
  tx: Queries,
  tables: readonly TableName[],
  work: () => Promise<T>,
): Promise<T> {
  if (dialectOf(tx) === 'sqlite') {
    const { rows } = await sql<{ name: string; sql: string }>`
      select name, sql from sqlite_master where type = 'trigger'`.execute(tx)
    for (const { name } of rows) await sql`drop trigger ${sql.id(name)}`.execute(tx)
    const result = await work()
    for (const trigger of rows) await sql.raw(trigger.sql).execute(tx)
    return result
  }
  const alter = async (how: 'disable' | 'enable') => {
    for (const table of tables)
      await sql`alter table ${sql.table(table)} ${sql.raw(how)} trigger user`.execute(tx)
  }
  await alter('disable')
  const result = await work()
  await alter('enable')
  return result
}
