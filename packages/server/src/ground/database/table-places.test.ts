import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { databases } from './fixture.ts'
import { checkTablePlace, tablePlaces, tablesIn } from './table-places.ts'

describe('the places of tables', () => {
  it('name every table that migrations make, and no other', async () => {
    const found = new Set<string>()
    for (const open of Object.values(databases)) {
      await using opened = await open()
      for (const { name } of await opened.database.read.introspection.getTables()) found.add(name)
    }
    assert.deepEqual([...found].toSorted(), Object.keys(tablePlaces).toSorted())
  })

  it('have every table of a tenant name its tenant', async () => {
    await using opened = await databases.sqlite()
    const tables = await opened.database.read.introspection.getTables()
    for (const name of tablesIn('tenant')) {
      const columns = tables.find((table) => table.name === name)?.columns ?? []
      assert.ok(
        columns.some((column) => column.name === 'tenant_id'),
        name,
      )
    }
  })

  it('refuse a statement in the wrong database, however it names the table', () => {
    for (const text of [
      'select 1 from sessions',
      'insert into "sessions" values (1)',
      'update "sessions" set id = 1',
      'select 1 from "workspaces" left join "sessions" on 1 = 1',
    ])
      assert.throws(() => checkTablePlace(text, 'control'), /about sessions/)
    checkTablePlace('select 1 from "settings" join "people" on 1 = 1', 'control')
    assert.throws(() => checkTablePlace('delete from "people"', 'tenant'), /about people/)
  })
})
