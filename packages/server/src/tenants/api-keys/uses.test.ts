import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { iso, systemClock } from '@steward/base/time.ts'
import { auditedDatabase } from '../../ground/database/audited-database.ts'
import { databases } from '../../ground/database/fixture.ts'
import { testGround } from '../../ground/ground-fixture.ts'
import { apiKeyStore } from './store.ts'
import { keyUses } from './uses.ts'

describe('the job of uses', () => {
  for (const dialect of ['sqlite', 'postgres'] as const) {
    it(`keeps when keys were used, and writes nothing where none was, on ${dialect}`, async () => {
      await using opened = await databases[dialect]()
      const database = auditedDatabase(opened.database, systemClock)
      const workspace = { id: 't', name: 't', created_at: iso(0) }
      await database.write((tx) => tx.insertInto('workspaces').values(workspace).execute())
      const key = { key: 'k', name: 'n', kind: 'workspace', admin: false } as const
      const made = { ...key, environmentId: null, expiresAt: null }
      const { id } = await database.write((tx) => apiKeyStore(tx).create('t', made, 0))
      let now = 60_000
      const clock = { ...systemClock, now: () => now }
      const { note, job } = keyUses(testGround(database, { clock }))
      const used = async () => (await apiKeyStore(database.read).active('t', id))?.last_used_at
      const { signal } = new AbortController()
      assert.equal(await job.run(signal), true)
      assert.equal(await used(), null)
      for (let n = 0; n < 2; n++) {
        note(id, n === 0)
        assert.equal(await job.run(signal), true)
      }
      assert.equal(await used(), '1970-01-01T00:01:00.000Z')
      now += 60_000
      note(id, false)
      assert.equal(await job.run(signal), true)
      assert.equal(await used(), '1970-01-01T00:01:00.000Z', 'a further use waits for its time')
      now += 600_000
      assert.equal(await job.run(signal), true)
      assert.equal(await used(), '1970-01-01T00:12:00.000Z')
      const lines = await database.read.selectFrom('audit_lines').selectAll().execute()
      assert.deepEqual(
        lines.map((line) => [line.action, line.tenant_id, line.resource_id, line.actor_name]),
        [['api_key.first_use', 't', id, 'n']],
      )
    })
  }

  it('is run at once for a first use, and for no other', async () => {
    await using opened = await databases.sqlite()
    const { note, job } = keyUses(testGround(opened.database))
    let runs = 0
    job.start?.(() => runs++)
    note('first', true)
    assert.equal(runs, 1)
    note('again', false)
    assert.equal(runs, 1)
  })
})
