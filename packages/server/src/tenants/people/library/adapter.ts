/** Adapts the control database to the library of sign-in: each write of the library is one unit. */
import type { AdapterFactoryOptions, CustomAdapter } from 'better-auth/adapters'
import { createAdapterFactory } from 'better-auth/adapters'
import { hashToken } from '../../../ground/core/security/token.ts'
import type { Database } from '../../../ground/database/database.ts'
import type { PeopleCondition, PeopleRow } from './store.ts'
import { isPeopleTable, libraryStore } from './store.ts'

/** Our names for its tables and columns. */
export const modelNames = {
  user: { modelName: 'people', fields: columnsOf(['emailVerified', 'createdAt', 'updatedAt']) },
  session: {
    modelName: 'sign_ins',
    fields: {
      ...columnsOf(['expiresAt', 'createdAt', 'updatedAt', 'ipAddress', 'userAgent']),
      userId: 'person_id',
      token: 'token_hash',
    },
  },
  account: {
    modelName: 'sign_in_accounts',
    fields: {
      ...columnsOf(['providerId', 'accountId', 'createdAt', 'updatedAt']),
      userId: 'person_id',
      password: 'password_hash',
    },
  },
  verification: {
    modelName: 'verifications',
    fields: columnsOf(['expiresAt', 'createdAt', 'updatedAt']),
  },
}

function columnsOf<const Name extends string>(names: readonly Name[]): Record<Name, string> {
  const column = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return Object.fromEntries(names.map((name) => [name, column(name)])) as Record<Name, string>
}

const tokenColumn = 'token_hash'

/** Tokens are stored as hashes: a caller that knows the token finds its row, and gets the token in the row. */
function hashedTokens(where: readonly PeopleCondition[]) {
  const tokens = new Map<string, string>()
  const hashed = (token: unknown) => {
    const hash = hashToken(String(token))
    tokens.set(hash, String(token))
    return hash
  }
  const conditions = where.map((each) => {
    if (each.field !== tokenColumn) return each
    const value = Array.isArray(each.value) ? each.value.map(hashed) : hashed(each.value)
    return { ...each, value }
  })
  const show = (row: PeopleRow): PeopleRow => {
    const token = tokens.get(String(row[tokenColumn]))
    return token === undefined ? row : { ...row, [tokenColumn]: token }
  }
  return { conditions, show }
}

export const peopleAdapter = (control: Database) =>
  createAdapterFactory({
    config: {
      adapterId: 'steward',
      supportsDates: false,
      supportsBooleans: false,
      supportsJSON: false,
      transaction: false,
    } satisfies AdapterFactoryOptions['config'],
    adapter: ({ getFieldName }) => adapterOver(control, getFieldName),
  })

function adapterOver(
  control: Database,
  columnOf: (field: { model: string; field: string }) => string,
): CustomAdapter {
  const reads = libraryStore(control.read)
  const tableOf = (model: string) => {
    if (isPeopleTable(model)) return model
    throw new Error(`the library of sign-in asks for ${model}, which is no table of people`)
  }
  const askedOf = ({
    model,
    where = [],
  }: {
    model: string
    where?: PeopleCondition[] | undefined
  }) => ({
    table: tableOf(model),
    ...hashedTokens(where),
  })
  const withHash = (row: PeopleRow): PeopleRow =>
    tokenColumn in row ? { ...row, [tokenColumn]: hashToken(String(row[tokenColumn])) } : row
  /** The library names the type of a row; the table decides the content. */
  const typed = <T>(row: PeopleRow | undefined) => (row ?? null) as T | null

  return {
    async create({ model, data }) {
      const table = tableOf(model)
      await control.write((tx) => libraryStore(tx).insert(table, withHash(data)))
      return data
    },
    async update<T>(asked: { model: string; where: PeopleCondition[]; update: T }) {
      const { table, conditions, show } = askedOf(asked)
      const set = withHash(asked.update as PeopleRow)
      const [row] = await control.write((tx) => libraryStore(tx).update(table, conditions, { set }))
      return typed<T>(row && show(row))
    },
    async updateMany(asked) {
      const { table, conditions } = askedOf(asked)
      const set = withHash(asked.update)
      const rows = await control.write((tx) => libraryStore(tx).update(table, conditions, { set }))
      return rows.length
    },
    async findOne<T>(asked: { model: string; where: PeopleCondition[] }) {
      const { table, conditions, show } = askedOf(asked)
      const [row] = await reads.select(table, conditions, { limit: 1 })
      return typed<T>(row && show(row))
    },
    async findMany<T>(asked: Parameters<CustomAdapter['findMany']>[0]) {
      const { table, conditions, show } = askedOf(asked)
      const { model, limit, offset, sortBy } = asked
      const sorted = sortBy && { ...sortBy, field: columnOf({ model, field: sortBy.field }) }
      const rows = await reads.select(table, conditions, { limit, offset, sortBy: sorted })
      return rows.map(show) as T[]
    },
    async delete(asked) {
      const { table, conditions } = askedOf(asked)
      await control.write((tx) => libraryStore(tx).remove(table, conditions))
    },
    deleteMany(asked) {
      const { table, conditions } = askedOf(asked)
      return control.write((tx) => libraryStore(tx).remove(table, conditions))
    },
    async consumeOne<T>(asked: { model: string; where: PeopleCondition[] }) {
      const { table, conditions, show } = askedOf(asked)
      const row = await control.write((tx) => libraryStore(tx).removeOne(table, conditions))
      return typed<T>(row && show(row))
    },
    async incrementOne<T>({
      increment,
      set = {},
      ...asked
    }: {
      model: string
      where: PeopleCondition[]
      increment: Record<string, number>
      set?: PeopleRow | undefined
    }) {
      const { table, conditions, show } = askedOf(asked)
      const [row] = await control.write((tx) =>
        libraryStore(tx).update(table, conditions, { set, increment }),
      )
      return typed<T>(row && show(row))
    },
    count(asked) {
      const { table, conditions } = askedOf(asked)
      return reads.count(table, conditions)
    },
  }
}
