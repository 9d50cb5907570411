import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { BoundaryContent } from '@steward/harness/history.ts'
import { buildMessages, sizeOf } from '@steward/harness/history.ts'
import type { Message } from '@steward/model/model.ts'
import type { NewEvent } from '@steward/protocol/events.ts'
import { newId } from '../../ground/core/text/ids.ts'
import { systemClock } from '@steward/base/time.ts'
import type { Database } from '../../ground/database/database.ts'
import { shapesOf } from '../../ground/database/shapes-fixture.ts'
import { keepEvents, insertHead, agentMessage, tenant } from '../../sessions/log/fixture.ts'
import { appendEntries } from '../../sessions/log/append.ts'
import { createHistoryCache } from './histories.ts'

const roomy = 1_000_000
const nothing = () => Promise.reject(new Error('never asked'))
const user = (text: string): NewEvent => ({
  id: newId('event'),
  type: 'user.message',
  content: [{ type: 'text', text }],
})
const summed = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] })

async function boundary(database: Database, session: string, ...messages: Message[]) {
  const opaque: BoundaryContent = { messages }
  const event: NewEvent = {
    id: newId('event'),
    type: 'agent.thread_context_compacted',
    strategy: 'isolated-basic',
  }
  const entries = [{ event, opaque: JSON.stringify(opaque) }]
  await database.write((tx) => appendEntries(tx, tenant, session, entries, { now: 0 }))
}

/** Makes these rows unreadable. */
const spoil = (database: Database, session: string, before: number) =>
  database.write((tx) =>
    tx
      .updateTable('events')
      .set({ data: 'spoilt' })
      .where('session_id', '=', session)
      .where('seq', '<', before)
      .execute(),
  )

for (const [name, open] of Object.entries(shapesOf(import.meta.filename))) {
  describe(`the histories of sessions on ${name}`, () => {
    it('begin at the newest boundary, and read nothing before it', async () => {
      await using testDatabase = await open()
      const { database } = testDatabase
      const session = await insertHead(database)
      await keepEvents(database, session, [user('one'), agentMessage('two')])
      await boundary(database, session, summed('FIRST'))
      await keepEvents(database, session, [user('three'), agentMessage('four')])
      await boundary(database, session, summed('SECOND'), summed('three'))
      await keepEvents(database, session, [agentMessage('five')])
      await spoil(database, session, 6)
      const history = await createHistoryCache(roomy, () => nothing, systemClock).of(
        database.read,
        {
          tenant,
          session,
        },
      )
      assert.deepEqual(
        buildMessages(history).map(({ content }) =>
          content.map((block) => 'text' in block && block.text),
        ),
        [['SECOND'], ['three'], ['five']],
      )
    })

    it('are the same whether they were followed or read afresh', async () => {
      await using testDatabase = await open()
      const { database } = testDatabase
      const session = await insertHead(database)
      const warm = createHistoryCache(roomy, () => nothing, systemClock)
      await keepEvents(database, session, [user('one'), agentMessage('x'.repeat(5_000))])
      const long = await warm.of(database.read, { tenant, session })
      await boundary(database, session, summed('SHORT'))
      await keepEvents(database, session, [user('two')])
      const followed = await warm.of(database.read, { tenant, session })
      const afresh = await createHistoryCache(roomy, () => nothing, systemClock).of(database.read, {
        tenant,
        session,
      })
      assert.equal(JSON.stringify(buildMessages(followed)), JSON.stringify(buildMessages(afresh)))
      assert.deepEqual(followed.weight, afresh.weight)
      assert.ok(sizeOf(followed) < sizeOf(long) / 10, 'what was replaced is not kept in memory')
    })

    it('are not held for sessions that no turn has asked for in ten minutes', async () => {
      await using testDatabase = await open()
      const { database } = testDatabase
      const session = await insertHead(database)
      await keepEvents(database, session, [user('one'), agentMessage('two')])
      let now = 0
      const kept = createHistoryCache(roomy, () => nothing, { now: () => now })
      const first = await kept.of(database.read, { tenant, session })
      now = 10 * 60_000 - 1
      kept.forgetUnused()
      // A cached history is not read again.
      await spoil(database, session, 3)
      assert.deepEqual(
        buildMessages(await kept.of(database.read, { tenant, session })),
        buildMessages(first),
      )
      now += 10 * 60_000
      kept.forgetUnused()
      await assert.rejects(kept.of(database.read, { tenant, session }), SyntaxError)
    })
  })
}
