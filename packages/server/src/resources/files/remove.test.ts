import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { looseBlobStore } from '../../ground/blobs/store.ts'
import { systemClock } from '@steward/base/time.ts'
import { databases } from '../../ground/database/fixture.ts'
import { testGround } from '../../ground/ground-fixture.ts'
import { removeExpiredFiles } from './remove.ts'
import type { FileRow } from './store.ts'
import { quotaUseStore } from '../../tenants/limits/use/store.ts'
import { fileStore } from './store.ts'

const tenant = 'wrkspc_a'
const day = 24 * 60 * 60 * 1000
const start = Date.parse('2030-01-01T00:00:00Z')

const fileRow = (id: string, expires: number | null): FileRow => ({
  tenant_id: tenant,
  id,
  session_id: null,
  origin: 'upload',
  filename: 'a',
  mime_type: 'text/plain',
  size_bytes: 7,
  sha256: '',
  blob_key: `files/${tenant}/${id}`,
  downloadable: 1,
  expires_at: expires === null ? null : new Date(expires).toISOString(),
  created_at: new Date(start).toISOString(),
})

for (const dialect of ['sqlite', 'postgres'] as const) {
  describe(`expired files on ${dialect}`, () => {
    it('lose their bytes, and a month later their metadata', async () => {
      await using opened = await databases[dialect]()
      const { database } = opened
      let now = start
      const removeExpired = () =>
        removeExpiredFiles(testGround(database, { clock: { ...systemClock, now: () => now } }))
      const files = fileStore(database.read)
      const there = async () => {
        const rows = await files.named(tenant, ['kept', 'late', 'soon'])
        const byName = rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))
        return byName.map(({ id, blob_key }) => [id, blob_key !== null])
      }
      await database.write(async (tx) => {
        for (const row of [
          fileRow('kept', null),
          fileRow('soon', start + 1000),
          fileRow('late', start + 2 * day),
        ])
          await fileStore(tx).insert(row)
      })
      assert.equal(await removeExpired(), true)
      assert.equal(await quotaUseStore(database.read).used(tenant, 'stored_bytes'), 21)
      now = start + 1000
      await removeExpired()
      assert.deepEqual(await there(), [
        ['kept', true],
        ['late', true],
        ['soon', false],
      ])
      assert.equal(await quotaUseStore(database.read).used(tenant, 'stored_bytes'), 14)
      const due = await looseBlobStore(database.read).due(now, 10)
      assert.deepEqual(
        due.map(({ blob_key }) => blob_key),
        [`files/${tenant}/soon`],
      )
      now = start + 30 * day + 999
      await removeExpired()
      assert.equal((await there()).length, 3)
      now = start + 30 * day + 1000
      await removeExpired()
      assert.deepEqual(await there(), [
        ['kept', true],
        ['late', false],
      ])
    })

    it('are removed a hundred at a time', async () => {
      await using opened = await databases[dialect]()
      const { database } = opened
      await database.write(async (tx) => {
        for (let i = 0; i < 101; i++) await fileStore(tx).insert(fileRow(`file_${i}`, start))
      })
      const deps = testGround(database, { clock: { ...systemClock, now: () => start + 1 } })
      assert.equal(await removeExpiredFiles(deps), false)
      assert.equal(await removeExpiredFiles(deps), true)
      assert.equal(await quotaUseStore(database.read).used(tenant, 'stored_bytes'), 0)
    })
  })
}
