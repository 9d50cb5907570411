import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sql } from 'kysely'
import { databases } from './fixture.ts'
import { selectRaw } from './select-raw.ts'
import { checkTableLocation, declarationOf, isTable, tableNames, tablesIn } from './tables.ts'

/** A column in short: `number?` is a number that may be null. */
const shortForm = (form: string, isNullable: boolean): string => form + (isNullable ? '?' : '')

const keyOf = (name: string): readonly string[] => (isTable(name) ? declarationOf(name).key : [])

const declaredColumns = (dialect: string) =>
  Object.fromEntries(
    tableNames.flatMap((name) => {
      const { columns, only = dialect } = declarationOf(name)
      if (only !== dialect) return []
      const all = Object.entries(columns).map(([column, { form, isNullable = false }]) => [
        column,
        shortForm(form, isNullable),
      ])
      return [[name, Object.fromEntries(all)]]
    }),
  )

describe('the declarations of tables', () => {
  for (const [dialect, open] of Object.entries(databases))
    it(`name every table and column that migrations make on ${dialect}, and no other`, async () => {
      await using opened = await open()
      const made = (await opened.database.read.introspection.getTables()).map((table) => [
        table.name,
        Object.fromEntries(
          table.columns.map(({ name, dataType, isNullable }) => [
            name,
            // SQLite calls the column of a key nullable.
            shortForm(
              /int/i.test(dataType) ? 'number' : 'text',
              isNullable && !keyOf(table.name).includes(name),
            ),
          ]),
        ),
      ])
      assert.deepEqual(Object.fromEntries(made), declaredColumns(dialect))
    })

  it('have the keys that migrations make', async () => {
    await using opened = await databases.sqlite()
    for (const name of tableNames) {
      const { key, only } = declarationOf(name)
      if (only !== undefined) continue
      const query = sql<{ name: string }>`
        select name from pragma_table_info(${name}) where pk > 0 order by pk`
      const made = (await selectRaw(opened.database.read, query)).map((row) => row.name)
      assert.deepEqual(made, key, name)
    }
  })

  it('have every table of a tenant name its tenant', () => {
    for (const name of tablesIn('tenant'))
      assert.ok('tenant_id' in declarationOf(name).columns, name)
  })

  it('refuse a statement in the wrong database, however it names the table', () => {
    for (const text of [
      'select 1 from sessions',
      'insert into "sessions" values (1)',
      'update "sessions" set id = 1',
      'select 1 from "workspaces" left join "sessions" on 1 = 1',
    ])
      assert.throws(() => checkTableLocation(text, 'control'), /about sessions/)
    checkTableLocation('select 1 from "settings" join "people" on 1 = 1', 'control')
    assert.throws(() => checkTableLocation('delete from "people"', 'tenant'), /about people/)
  })
})
