/** Copies one tenant's rows from one place to another, in one transaction. */
import type { RowDatabase } from './row-database.ts'
import type { TableName } from '../tables.ts'
import {
  checkSums,
  putRows,
  removeRows,
  rowSum,
  readTableRows,
  sumTableRows,
  withoutTriggers,
} from './tenant-rows.ts'
import type { RowSums } from './tenant-rows.ts'

/** Replaces the tenant's rows at `to`, then compares the sums of both places. Returns the number of rows. */
export async function copyTenant(
  tenant: string,
  tables: readonly TableName[],
  { from, to }: { from: RowDatabase; to: RowDatabase },
): Promise<number> {
  const copied = await from.reading((db) =>
    to.writing((tx) =>
      withoutTriggers(tx, tables, async () => {
        const sums: RowSums = {}
        for (const table of tables) {
          await removeRows(tx, table, tenant)
          const sum = rowSum()
          for await (const rows of readTableRows(db, table, tenant)) {
            for (const row of rows) sum.add(row)
            await putRows(tx, table, rows)
          }
          sums[table] = sum.result()
        }
        return sums
      }),
    ),
  )
  checkSums(
    copied,
    await to.reading((db) => sumTableRows(db, tables, tenant)),
    `the copy of ${tenant}`,
  )
  return Object.values(copied).reduce((total, { rows }) => total + rows, 0)
}
