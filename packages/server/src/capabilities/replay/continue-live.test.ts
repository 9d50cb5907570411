import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { StorageError } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/text/ids.ts'
import { databases } from '../../ground/database/fixture.ts'
import { dyingDatabase, newSession } from '../../sessions/fixture.ts'
import { keepEvents, tenant } from '../../sessions/log/fixture.ts'
import { agentIn, createOpening } from '../../sessions/opening-fixture.ts'
import { sessionStore } from '../../sessions/rows/sessions.ts'
import { continueLive } from './continue-live.ts'

for (const [name, open] of Object.entries(databases)) {
  describe(`a replay that goes on live on ${name}`, () => {
    // verifies: replays/continue/killed
    it('creates no session without its message, wherever its process dies', async () => {
      await using opened = await open()
      const { database } = opened
      const { read } = database
      const session = await newSession(database)
      const { agent, environment: environment_id } = await agentIn(database)
      await database.write((tx) => tx.updateTable('sessions').set({ environment_id }).execute())
      const text = (text: string) => [{ type: 'text' as const, text }]
      const asked = { id: newId('event'), type: 'user.message' as const, content: text('one') }
      await keepEvents(database, session, [asked])
      const turns = [{ from: 1, given: [asked], made: [] }]
      let continued: string | undefined
      let last = 0
      while (continued === undefined) {
        const ref = { db: dyingDatabase(database, ++last), tenant }
        continued = await continueLive(createOpening(database), ref, {
          session,
          agent,
          turns,
          index: 0,
        }).catch((error: unknown) => {
          assert.ok(error instanceof StorageError)
          return undefined
        })
        const listed = await sessionStore(read).undeleted(tenant, 10)
        const waiting = await read.selectFrom('inbox').select('session_id').execute()
        assert.deepEqual(
          listed.filter((id) => id !== session),
          waiting.map(({ session_id }) => session_id),
        )
      }
      assert.ok(last > 2, `${last} writes`)
    })
  })
}
