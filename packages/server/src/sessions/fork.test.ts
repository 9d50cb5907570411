import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { systemClock } from '@steward/base/time.ts'
import { databases } from '../ground/database/fixture.ts'
import { StorageError } from '../ground/core/errors.ts'
import { dyingDatabase, newSession } from './fixture.ts'
import { forkSession } from './fork.ts'
import { removeDeletedSessions } from './job.ts'
import { keepEvents, agentMessage, tenant } from './log/fixture.ts'
import { createOpening } from './opening-fixture.ts'
import { sessionStore } from './rows/sessions.ts'

const hour = 60 * 60 * 1000
for (const [name, open] of Object.entries(databases)) {
  describe(`a fork whose process dies on ${name}`, () => {
    // verifies: forks/killed
    it('is no session, and is removed when its time is over', async () => {
      await using opened = await open()
      const { database } = opened
      const from = await newSession(database)
      await keepEvents(
        database,
        from,
        Array.from({ length: 600 }, () => agentMessage('x')),
      )
      const count = async () =>
        (await database.read.selectFrom('events').select('seq').execute()).length
      const clock = { ...systemClock, now: () => 0 }
      const deps = { ...createOpening(database, { clock }), count: async () => {} }
      for (const last of [1, 2, 3, 4, 5, 6]) {
        const forked = forkSession(dyingDatabase(database, last), tenant, from, {}, deps)
        await assert.rejects(forked, StorageError)
        const listed = await sessionStore(database.read).undeleted(tenant, 10)
        assert.deepEqual(listed, [from])
        const copied = (await count()) - 600
        assert.equal(copied, [0, 0, 250, 500, 600, 600][last - 1])
        assert.equal(await removeDeletedSessions(database, 2 * hour, hour), true)
        assert.equal(await count(), 600)
        assert.deepEqual(await sessionStore(database.read).some(tenant, 10), [from])
      }
    })
  })
}
