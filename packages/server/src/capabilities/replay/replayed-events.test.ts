import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { databases } from '../../ground/database/fixture.ts'
import { agentMessage, insertHead, keepEvents, tenant } from '../../sessions/log/fixture.ts'
import { replayedEvents } from './replayed-events.ts'

for (const [name, open] of Object.entries(databases))
  describe(`the events of a replay on ${name}`, () => {
    it('are all those of the log, within bounds of events and of bytes', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await insertHead(database)
      for (let n = 0; n < 3; n++)
        await keepEvents(database, session, [agentMessage('a'.repeat(100_000))])
      const read = (events: number, bytes: number) =>
        replayedEvents(database.read, { tenant, session }, { events, bytes })
      assert.equal((await read(3, 400_000)).length, 3)
      await assert.rejects(read(2, 400_000), /session_id: .* more than 2 events/)
      await assert.rejects(read(3, 250_000), /session_id: .* more than 250000 bytes/)
    })
  })
