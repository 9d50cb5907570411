import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { databases } from '../../ground/database/fixture.ts'
import { newSession } from '../fixture.ts'
import { tenant } from '../log/fixture.ts'
import { sessionStore } from './sessions.ts'

for (const [kind, open] of Object.entries(databases))
  describe(`a session on ${kind}`, () => {
    // verifies: sessions/delete/gone
    it('that is read while it is deleted is absent, and never shown as deleted', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await newSession(database)
      await database.write((tx) =>
        tx
          .updateTable('session_heads')
          .set({ status: 'deleted' })
          .where('session_id', '=', session)
          .execute(),
      )
      await assert.rejects(sessionStore(database.read).get(tenant, session, 0), {
        kind: 'not_found',
      })
    })
  })
