/** Rows for the library of sign-in: any table of people, by conditions in the library's form. */
import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Queries, Reads } from '../../../ground/database/database.ts'
import { selectRaw } from '../../../ground/database/select-raw.ts'
import { defineStore } from '../../../ground/database/store-of.ts'
import { auditEndOfSignIns, auditNewPerson, auditPassword, auditSignIn } from '../audit-lines.ts'

/** The stored columns of each table. Other fields of the library are dropped: tokens of providers, pictures. */
const columns = {
  people: ['id', 'email', 'email_verified', 'name', 'created_at', 'updated_at'],
  sign_ins: [
    ...['id', 'person_id', 'token_hash', 'ip_address', 'user_agent'],
    ...['expires_at', 'created_at', 'updated_at'],
  ],
  sign_in_accounts: [
    ...[
      'id',
      'person_id',
      'provider_id',
      'account_id',
      'password_hash',
      'created_at',
      'updated_at',
    ],
  ],
  verifications: ['id', 'identifier', 'value', 'expires_at', 'created_at', 'updated_at'],
} as const

type PeopleTable = keyof typeof columns

export type PeopleRow = Record<string, unknown>
export type PeopleCondition = {
  field: string
  value: unknown
  operator: string
  connector: 'AND' | 'OR'
}
export type PeopleSelection = {
  limit: number
  offset?: number | undefined
  sortBy?: { field: string; direction: 'asc' | 'desc' } | undefined
}

export function isPeopleTable(table: string): table is PeopleTable {
  return Object.hasOwn(columns, table)
}

const comparisons: Record<string, string> = {
  eq: '=',
  ne: '<>',
  lt: '<',
  lte: '<=',
  gt: '>',
  gte: '>=',
}

function condition({ field, value, operator }: PeopleCondition): RawBuilder<boolean> {
  const column = sql.ref(field)
  if (value === null && operator === 'eq') return sql`${column} is null`
  if (value === null && operator === 'ne') return sql`${column} is not null`
  const comparison = comparisons[operator]
  if (comparison) return sql`${column} ${sql.raw(comparison)} ${value}`
  if ((operator === 'in' || operator === 'not_in') && Array.isArray(value)) {
    if (value.length === 0) return operator === 'in' ? sql`1 = 0` : sql`1 = 1`
    return sql`${column} ${sql.raw(operator === 'in' ? 'in' : 'not in')} (${sql.join(value)})`
  }
  throw new Error(`rows of people are not asked for by ${operator}`)
}

/** True when all AND conditions hold, and at least one of the OR conditions if there are any. */
function conditions(where: readonly PeopleCondition[]): RawBuilder<boolean> {
  const all = where.filter(({ connector }) => connector !== 'OR').map(condition)
  const some = where.filter(({ connector }) => connector === 'OR').map(condition)
  const parts = [...all, ...(some.length > 0 ? [sql`(${sql.join(some, sql` or `)})`] : [])]
  return parts.length > 0 ? sql`${sql.join(parts, sql` and `)}` : sql`1 = 1`
}

const known = (table: PeopleTable, row: PeopleRow): [string, unknown][] => {
  const names: readonly string[] = columns[table]
  return Object.entries(row).filter(([name]) => names.includes(name))
}

const assignments = (values: [string, unknown][]) =>
  values.map(([name, value]) => sql`${sql.ref(name)} = ${value}`)

async function tellInsert(db: Queries, table: PeopleTable, row: PeopleRow): Promise<void> {
  const id = String(row['id'])
  if (table === 'sign_ins') await auditSignIn(db, id, String(row['person_id']))
  if (table === 'people')
    auditNewPerson(id, { email: String(row['email']), name: String(row['name']) })
}

function rowReads(db: Reads) {
  return {
    select(
      table: PeopleTable,
      where: readonly PeopleCondition[],
      { limit, offset = 0, sortBy }: PeopleSelection,
    ): Promise<PeopleRow[]> {
      const order = sortBy
        ? sql`order by ${sql.ref(sortBy.field)} ${sql.raw(sortBy.direction === 'desc' ? 'desc' : 'asc')}`
        : sql``
      return selectRaw(
        db,
        sql<PeopleRow>`select * from ${sql.table(table)} where ${conditions(where)} ${order} limit ${limit} offset ${offset}`,
      )
    },

    async count(table: PeopleTable, where: readonly PeopleCondition[]): Promise<number> {
      const query = sql<{ n: number | string }>`
        select count(*) as n from ${sql.table(table)} where ${conditions(where)}`
      const [row] = await selectRaw(db, query)
      return Number(row?.n ?? 0)
    },
  }
}

function rowWrites(db: Queries) {
  return {
    async insert(table: PeopleTable, row: PeopleRow): Promise<void> {
      const values = known(table, row)
      await sql`
        insert into ${sql.table(table)} (${sql.join(values.map(([name]) => sql.ref(name)))})
        values (${sql.join(values.map(([, value]) => value))})`.execute(db)
      await tellInsert(db, table, row)
    },

    /** Returns the changed rows. `increment`: amounts added to columns. */
    async update(
      table: PeopleTable,
      where: readonly PeopleCondition[],
      { set, increment = {} }: { set: PeopleRow; increment?: Record<string, number> },
    ): Promise<PeopleRow[]> {
      const changes = [
        ...assignments(known(table, set)),
        ...Object.entries(increment).map(
          ([name, by]) => sql`${sql.ref(name)} = ${sql.ref(name)} + ${by}`,
        ),
      ]
      if (changes.length === 0) {
        const query = sql<PeopleRow>`select * from ${sql.table(table)} where ${conditions(where)}`
        return (await query.execute(db)).rows
      }
      const query = sql<PeopleRow>`
        update ${sql.table(table)} set ${sql.join(changes)} where ${conditions(where)} returning *`
      const { rows } = await query.execute(db)
      if ('password_hash' in set)
        for (const row of rows) await auditPassword(db, String(row['person_id']))
      return rows
    },

    async remove(table: PeopleTable, where: readonly PeopleCondition[]): Promise<number> {
      const query = sql<PeopleRow>`
        delete from ${sql.table(table)} where ${conditions(where)} returning *`
      const { rows } = await query.execute(db)
      if (table === 'sign_ins')
        for (const row of rows) auditEndOfSignIns(String(row['person_id']), 1)
      return rows.length
    },

    /** Deletes and returns at most one row; no other caller gets it. */
    async removeOne(
      table: PeopleTable,
      where: readonly PeopleCondition[],
    ): Promise<PeopleRow | undefined> {
      const query = sql<PeopleRow>`
        delete from ${sql.table(table)}
        where id = (select id from ${sql.table(table)} where ${conditions(where)} limit 1)
        returning *`
      return (await query.execute(db)).rows[0]
    },
  }
}

export const libraryStore = defineStore(rowReads, rowWrites)
