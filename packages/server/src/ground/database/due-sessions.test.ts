import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { insertHead, tenant } from '../../sessions/log/fixture.ts'
import { everyShape } from './shapes-fixture.ts'
import { deadOwners, listDueSessions, nextTenantDue } from './due-sessions.ts'

for (const [dialect, open] of Object.entries(everyShape)) {
  describe(`the sessions that nobody owns on ${dialect}`, () => {
    it('are those that are due and free, expired, or held by the dead, oldest first', async () => {
      await using opened = await open()
      const { database } = opened
      const { self } = database.owners
      const held = { due: 1, owner: self, expires_at: 1000 }
      const free = await insertHead(database, { due: 1 })
      await insertHead(database, { due: 0 })
      await insertHead(database, held)
      const expired = await insertHead(database, { ...held, expires_at: 10 })
      const orphan = await insertHead(database, { ...held, owner: 'proc_gone' })
      const dead = await deadOwners(database)
      assert.deepEqual(dead, ['proc_gone'])
      const found = await listDueSessions(database, tenant, 10, { now: 500, dead })
      assert.deepEqual(found, [free, expired, orphan])
    })

    it('are found behind any number of sessions that are being run', async () => {
      await using opened = await open()
      const { database } = opened
      const held = { due: 1, owner: database.owners.self, expires_at: 1000 }
      for (let n = 0; n < 10; n++) await insertHead(database, held)
      const orphan = await insertHead(database, { ...held, owner: 'proc_gone' })
      const now = { now: 500, dead: ['proc_gone'] }
      assert.equal(await nextTenantDue(database, '', now), tenant)
      assert.deepEqual(await listDueSessions(database, tenant, 5, now), [orphan])
    })

    it('are found by tenant in turn, of each as many as are asked for, and of no tenant without any', async () => {
      await using opened = await open()
      const { database } = opened
      const now = { now: 500, dead: [] }
      const many = []
      for (let n = 0; n < 3; n++) many.push(await insertHead(database, { due: 1, tenant_id: 'b' }))
      await insertHead(database, { due: 1, tenant_id: 'd' })
      await insertHead(database, { due: 0, tenant_id: 'c' })
      await insertHead(database, { due: 1, tenant_id: 'c', owner: 'x', expires_at: 1000 })
      const order: (string | undefined)[] = []
      for (let after: string | undefined = ''; after !== undefined; order.push(after))
        after = await nextTenantDue(database, after, now)
      assert.deepEqual(order, ['b', 'd', undefined])
      assert.deepEqual(await listDueSessions(database, 'b', 2, now), many.slice(0, 2))
    })
  })
}
