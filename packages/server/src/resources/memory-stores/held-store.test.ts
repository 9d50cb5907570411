import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newId } from '../../ground/core/text/ids.ts'
import { databases } from '../../ground/database/fixture.ts'
import { holdStore } from '../../tenants/workspaces/holds/store.ts'
import { start, storeIn, tenant } from './fixture.ts'
import { removeStore } from './remove.ts'
import { createMemory } from './write.ts'

for (const [dialect, open] of Object.entries(databases)) {
  describe(`a memory store with a version of a session under a hold, on ${dialect}`, () => {
    // verifies: holds/scope, holds/refusal
    it('is not deleted before the hold is released', async () => {
      await using at = await open()
      const { database } = at
      const store = await storeIn(database)
      const session_id = newId('session')
      const write = (session: string, path: string) =>
        database.write((tx) => {
          const actor = { type: 'session_actor', session_id: session } as const
          const writing = { tx, tenant, store: store.id, actor, now: start }
          const checkRoom = async () => {}
          return createMemory({ ...writing, checkRoom }, { path, content: 'words' })
        })
      const remove = () => removeStore(database, { tenant, id: store.id, now: start })
      await write(newId('session'), '/other')
      await write(session_id, '/held')
      const scope = { type: 'session', session_id } as const
      const { id } = await database.write((tx) =>
        holdStore(tx).insert(tenant, { scope, reason: 'case 4711' }, start),
      )
      await assert.rejects(
        remove(),
        new RegExp(`memory store ${store.id} is kept by the hold ${id} on its session`),
      )
      assert.equal((await store.versions()).length, 2)
      await database.write((tx) => holdStore(tx).release(tenant, id, start))
      await remove()
      assert.equal((await store.versions()).length, 0)
    })
  })
}
