import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sql } from 'kysely'
import { systemClock } from '@steward/base/time.ts'
import { usualPostgresLimits } from '../../core/postgres-client.ts'
import type { SlotFor } from '../statement.ts'
import { insertRows, selectStatement } from '../statement.ts'
import { newPostgresUrl } from '../fixture.ts'
import { postgresDatabase, postgresTransaction } from '../postgres.ts'
import { addWorkspace, collectItems, putVault } from './fixture.ts'
import { schemaPerTenant } from './schema-per-tenant.ts'
import { tenantDatabaseStore } from './tenant-databases.ts'

const tenants = ['wrkspc_a', 'wrkspc_b']
const none = () => {}
const log = { debug: none, info: none, warn: none, error: none }

const blobsOf = selectStatement((db, slot: SlotFor<{ most: number }>) =>
  db
    .selectFrom('loose_blobs')
    .select('blob_key')
    .where(
      'due_ms',
      '<',
      slot(({ most }) => most),
    ),
)

/** Opens the databases like one process. */
async function processOn(url: string) {
  const postgres = await postgresDatabase(url)
  const databases = schemaPerTenant({ control: postgres, postgres, clock: systemClock, log })
  return { ...databases, postgres }
}

describe('a schema for each tenant', () => {
  it('is made once where two processes need it at the same time', async () => {
    const url = await newPostgresUrl()
    const [one, two] = [await processOn(url), await processOn(url)]
    try {
      await addWorkspace(one.control, 'wrkspc_a')
      const opened = await Promise.all([one, two].map((each) => each.open('wrkspc_a')))
      for (const { read } of opened)
        assert.deepEqual(await read.selectFrom('vaults').selectAll().execute(), [])
    } finally {
      await Promise.all([one.close(), two.close()])
    }
  })

  it('keeps statements apart that connections keep by one name', async () => {
    const databases = await processOn(await newPostgresUrl())
    try {
      for (const tenant of tenants) await addWorkspace(databases.control, tenant)
      // Tenants use the connections in turn, in more rounds than there are connections.
      for (let round = 0; round < 20; round++)
        await Promise.all(
          tenants.map(async (tenant) => {
            const database = await databases.open(tenant)
            const row = { tenant_id: tenant, blob_key: `${tenant}/${round}`, due_ms: round }
            await database.write((tx) => insertRows(tx, 'loose_blobs', [row]))
            const found = await blobsOf(database.read, { most: 1_000 })
            assert.equal(found.length, round + 1)
            assert.ok(found.every(({ blob_key }) => blob_key.startsWith(tenant)))
          }),
        )
    } finally {
      await databases.close()
    }
  })

  it('keeps nothing of a tenant on a connection, even after a unit that fails', async () => {
    const url = await newPostgresUrl()
    const databases = await processOn(url)
    try {
      await addWorkspace(databases.control, 'wrkspc_a')
      const database = await databases.open('wrkspc_a')
      const failing = Array.from({ length: 20 }, () =>
        database.write((tx) => sql`select 1 / 0`.execute(tx)).catch(none),
      )
      await Promise.all(failing)
      const paths = await Promise.all(
        Array.from({ length: 30 }, () =>
          databases.control.write((tx) =>
            sql<{ path: string }>`select current_setting('search_path') as path`.execute(tx),
          ),
        ),
      )
      for (const { rows } of paths) assert.ok(!rows[0]?.path.includes('wrkspc'), rows[0]?.path)
    } finally {
      await databases.close()
    }
  })

  it('is whole or not there when its making is cut off', async () => {
    const url = await newPostgresUrl()
    const databases = await processOn(url)
    try {
      await addWorkspace(databases.control, 'wrkspc_a')
      const schema = { url, limits: usualPostgresLimits, schema: 't_wrkspc_a' }
      const making = postgresTransaction(schema, { isReading: false }, async (tx) => {
        await sql`create schema t_wrkspc_a`.execute(tx)
        await sql`create table kysely_migration (name text)`.execute(tx)
        throw new Error('killed')
      })
      await assert.rejects(making, /killed/)
      const { read } = await databases.open('wrkspc_a')
      assert.deepEqual(await read.selectFrom('vaults').selectAll().execute(), [])
    } finally {
      await databases.close()
    }
  })

  it('lets jobs go on where a process was killed between a schema and its row', async () => {
    const url = await newPostgresUrl()
    const [one, two] = [await processOn(url), await processOn(url)]
    try {
      for (const tenant of tenants) {
        await addWorkspace(one.control, tenant)
        await putVault(await two.open(tenant), tenant, 'vlt_1')
      }
      const now = systemClock.now()
      for (const tenant of tenants)
        await two.control.write((tx) => tenantDatabaseStore(tx).wake(tenant, now - 60_000))
      const { postgres } = one
      await postgres.schema('t_wrkspc_a').drop()
      assert.deepEqual(await collectItems(two.due()), [])
      await two.control.write((tx) => tenantDatabaseStore(tx).wake('wrkspc_b', now))
      assert.deepEqual(await collectItems(two.due()), [await two.open('wrkspc_b')])
    } finally {
      await Promise.all([one.close(), two.close()])
    }
  })
})
