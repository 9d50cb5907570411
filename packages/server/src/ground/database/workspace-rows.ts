/** Removes the rows of a deleted workspace from every table. */
import { sql } from 'kysely'
import type { Database } from './database.ts'
import { dialectOf } from './dialect.ts'
import type { TableName } from './tables.ts'
import { declarationOf, tableNames } from './tables.ts'

/** The tables to empty, without those of sessions. Triggers write `quota_use` when rows of other tables are removed. */
export const workspaceTables = (location: 'control' | 'tenant'): readonly TableName[] =>
  tableNames.filter((name) => {
    const { rows, removed, columns } = declarationOf(name)
    // The rows that every database has go with the workspace's rows of control.
    const here = rows === 'each' ? 'control' : rows
    return here === location && removed === undefined && 'tenant_id' in columns
  })

/** Rows of one transaction: a record may have a megabyte. */
const rowsAtOnce = 50

/** Removes a few rows in a transaction, from the first table that has any. Returns true when none is left. */
export async function removeRowsAt(
  database: Database,
  rows: 'control' | 'tenant',
  tenant: string,
): Promise<boolean> {
  for (const table of workspaceTables(rows))
    if ((await removeSome(database, table, tenant)) > 0) return false
  return true
}

async function removeSome(database: Database, table: TableName, tenant: string): Promise<number> {
  return database.writeStatement(async (db) => {
    const name = sql.table(table)
    const row = sql.raw(dialectOf(db) === 'sqlite' ? 'rowid' : 'ctid')
    const some = sql`select ${row} from ${name} where tenant_id = ${tenant} limit ${rowsAtOnce}`
    const removal = sql`delete from ${name} where ${row} in (${some})`
    const { numAffectedRows } = await removal.execute(db)
    return Number(numAffectedRows ?? 0)
  })
}
