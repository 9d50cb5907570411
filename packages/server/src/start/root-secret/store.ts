import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { selectRaw } from '../../ground/database/select-raw.ts'
import { defineStore } from '../../ground/database/store-of.ts'
import type { SealedColumn } from './columns.ts'

/**
 * `key`: the row's primary key without the tenant, in the order of the column's `keys`. `value`: the content of the
 * column.
 */
export type SealedRow = { tenant_id: string; key: (string | number)[]; value: string }

const marked = (keyId: string) => `v1.${keyId}.`

/** True when the column holds a value under a root key that is not in `keyIds`. Base64 and ids hold no quotes. */
function sealedElsewhere(
  { column, holds }: SealedColumn,
  keyIds: readonly string[],
): RawBuilder<boolean> {
  const value = sql.ref(column)
  if (holds === 'value') {
    const marks = sql.join(keyIds.map(marked))
    const isElsewhere =
      keyIds.length === 0 ? sql`1 = 1` : sql`substr(${value}, 1, 16) not in (${marks})`
    return sql<boolean>`${value} like 'v1.%' and ${isElsewhere}`
  }
  const rest = keyIds.reduce<RawBuilder<unknown>>(
    (text, keyId) => sql`replace(${text}, cast(${`"${marked(keyId)}`} as text), '')`,
    value,
  )
  return sql<boolean>`${value} <> '{}' and ${rest} like '%"v1.%'`
}

function sealedReads(db: Reads) {
  return {
    /** Rows with a value under a root key that is not in `keyIds`, in the order of their keys. */
    async elsewhere(
      column: SealedColumn,
      keyIds: readonly string[],
      { after, limit }: { after?: SealedRow | undefined; limit: number },
    ): Promise<SealedRow[]> {
      const names = ['tenant_id', ...column.keys]
      const key = sql.join(names.map((name) => sql.ref(name)))
      const past = after
        ? sql<boolean>`(${key}) > (${sql.join([after.tenant_id, ...after.key])})`
        : sql<boolean>`1 = 1`
      const query = sql<Record<string, string | number>>`
        select ${key}, ${sql.ref(column.column)} as value
        from ${sql.table(column.table)}
        where ${sealedElsewhere(column, keyIds)} and ${past}
        order by ${key}
        limit ${limit}
      `
      return (await selectRaw(db, query)).map((row) => ({
        tenant_id: String(row['tenant_id']),
        key: column.keys.map((name) => row[name] ?? ''),
        value: String(row['value']),
      }))
    },
  }
}

function sealedWrites(db: Queries) {
  return {
    /** Returns false and writes nothing when the column has changed meanwhile. */
    async replace(column: SealedColumn, row: SealedRow, value: string): Promise<boolean> {
      const own = column.keys.map((name, i) => sql`${sql.ref(name)} = ${row.key[i]}`)
      const { numAffectedRows } = await sql`
        update ${sql.table(column.table)}
        set ${sql.ref(column.column)} = ${value}
        where ${sql.join([sql`tenant_id = ${row.tenant_id}`, ...own], sql` and `)}
          and ${sql.ref(column.column)} = ${row.value}
      `.execute(db)
      return numAffectedRows === 1n
    },
  }
}

export const sealedStore = defineStore(sealedReads, sealedWrites)
