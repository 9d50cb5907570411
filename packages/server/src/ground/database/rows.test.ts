import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { emptyEnvironment } from '@steward/protocol/environments.ts'
import { databases } from './fixture.ts'
import type { ListFilter } from './rows.ts'
import { rows } from './rows.ts'

const at = '2026-01-01T00:00:00.000Z'
const vault = (id: string, tenant_id = 'wrkspc_1') => ({
  ...{ tenant_id, id, name: `the vault ${id}`, metadata: { of: id } },
  ...{ archived_at: null, created_at: at, updated_at: at },
})
const store = (id: string) => ({
  ...{ tenant_id: 'wrkspc_1', id, name: 'notes', description: '', metadata: {} },
  ...{ agent_id: null, embedding_model: 'none', vector_index: id, memories: 0, revision: 0 },
  ...{ archived_at: null, deleted_at: null, created_at: at, updated_at: at },
})
const isMissing = { kind: 'not_found' }

for (const dialect of ['sqlite', 'postgres'] as const)
  describe(`rows of one table, on ${dialect}`, () => {
    it('come back with the values of their JSON, to their own tenant alone', async () => {
      await using opened = await databases[dialect]()
      const { database } = opened
      const made = await database.write((tx) => rows(tx, 'vaults').insert(vault('vlt_1')))
      assert.deepEqual(made, vault('vlt_1'))
      assert.deepEqual(await rows(database.read, 'vaults').get('wrkspc_1', 'vlt_1'), made)
      const { metadata } = await database.read
        .selectFrom('vaults')
        .select('metadata')
        .executeTakeFirstOrThrow()
      assert.equal(metadata, '{"of":"vlt_1"}')
      await assert.rejects(rows(database.read, 'vaults').get('wrkspc_2', 'vlt_1'), isMissing)
      assert.equal(await rows(database.read, 'vaults').find('wrkspc_2', 'vlt_1'), undefined)
    })

    it('are changed, archived and removed by their tenant and id', async () => {
      await using opened = await databases[dialect]()
      const { database } = opened
      const kept = await database.write(async (tx) => {
        await rows(tx, 'vaults').insert(vault('vlt_1', 'wrkspc_2'))
        const row = await rows(tx, 'vaults').insert(vault('vlt_1'))
        return rows(tx, 'vaults').update(row, { metadata: { a: 'b' } })
      })
      assert.deepEqual(kept, { ...vault('vlt_1'), metadata: { a: 'b' } })
      assert.deepEqual(await rows(database.read, 'vaults').get('wrkspc_1', 'vlt_1'), kept)
      const archived = await database.write(async (tx) => {
        const row = await rows(tx, 'vaults').getForUpdate('wrkspc_1', 'vlt_1')
        return rows(tx, 'vaults').archive(row, Date.parse(at))
      })
      assert.equal(archived.archived_at, at)
      await database.write((tx) => rows(tx, 'vaults').remove('wrkspc_1', 'vlt_1'))
      assert.equal(await rows(database.read, 'vaults').find('wrkspc_1', 'vlt_1'), undefined)
      assert.deepEqual(
        await rows(database.read, 'vaults').get('wrkspc_2', 'vlt_1'),
        vault('vlt_1', 'wrkspc_2'),
      )
    })

    it('are listed in order, with or without the archived ones', async () => {
      await using opened = await databases[dialect]()
      const { database } = opened
      await database.write(async (tx) => {
        const table = rows(tx, 'vaults')
        for (const id of ['vlt_1', 'vlt_2', 'vlt_3']) await table.insert(vault(id))
        await table.archive(await table.getForUpdate('wrkspc_1', 'vlt_2'), Date.parse(at))
      })
      const ids = async (limit: number, filter: ListFilter = {}) => {
        const page = { limit, order: 'asc' } as const
        const found = await rows(database.read, 'vaults').list('wrkspc_1', page, filter)
        assert.deepEqual(
          found.rows.map(({ metadata }) => metadata['of']),
          found.rows.map(({ id }) => id),
        )
        return { ids: found.rows.map(({ id }) => id), more: found.more }
      }
      assert.deepEqual(await ids(2), { ids: ['vlt_1', 'vlt_2'], more: true })
      assert.deepEqual(await ids(5, { archived: false }), { ids: ['vlt_1', 'vlt_3'], more: false })
      assert.deepEqual(await ids(5, { archived: 'only' }), { ids: ['vlt_2'], more: false })
      const made = [{ op: '>', at }] as const
      assert.deepEqual(await ids(5, { made }), { ids: [], more: false })
    })

    it('are absent once they are deleted, though a part of them remains', async () => {
      await using opened = await databases[dialect]()
      const { database } = opened
      await database.write(async (tx) => {
        const table = rows(tx, 'memory_stores')
        await table.update(await table.insert(store('memstore_1')), { deleted_at: at })
        assert.equal(await table.findForUpdate('wrkspc_1', 'memstore_1'), undefined)
        await assert.rejects(table.getForShare('wrkspc_1', 'memstore_1'), isMissing)
      })
      const page = { limit: 5, order: 'asc' } as const
      assert.deepEqual((await rows(database.read, 'memory_stores').list('wrkspc_1', page)).rows, [])
    })

    it('refuse a record that is larger than any needs to be', async () => {
      await using opened = await databases[dialect]()
      const name = 'x'.repeat(1024 * 1024)
      const record = { ...emptyEnvironment, name }
      await assert.rejects(
        opened.database.write((tx) =>
          rows(tx, 'environments').insert({
            ...{ tenant_id: 'wrkspc_1', id: 'env_1', name: 'e', record, reclaim_ms: 0 },
            ...{ archived_at: null, created_at: at, updated_at: at },
          }),
        ),
        { kind: 'invalid_request', message: 'the environment is larger than 1048576 bytes' },
      )
    })
  })
