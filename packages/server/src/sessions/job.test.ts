import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newId } from '../ground/core/text/ids.ts'
import type { Database } from '../ground/database/database.ts'
import { everyShape } from '../ground/database/shapes-fixture.ts'
import type { Tables } from '../ground/database/tables.ts'
import { keepEvents, agentMessage, tenant } from './log/fixture.ts'
import { acknowledgeItem, claimNext, enqueueItem, settleOverdue } from './work/queue.ts'
import { newSession } from './fixture.ts'
import { removeDeletedSessions } from './job.ts'
import { deleteSession } from './update.ts'

const hour = 60 * 60 * 1000
/** They outlive a session, and have a time of their own. */
const kept = ['credential_uses', 'credential_changes', 'memory_versions', 'work']

/** How many rows each table has of a session. */
async function rowsOf(database: Database, session: string): Promise<Record<string, number>> {
  const rows: Record<string, number> = {}
  for (const { name, columns } of await database.read.introspection.getTables()) {
    const column = name === 'sessions' ? 'id' : 'session_id'
    if (kept.includes(name) || !columns.some((each) => each.name === column)) continue
    const found = await database.read
      .selectFrom(name as 'sessions')
      .select('tenant_id')
      .where(column as 'id', '=', session)
      .execute()
    if (found.length > 0) rows[name] = found.length
  }
  return rows
}

async function withCalls(database: Database, session: string, count: number): Promise<void> {
  const call = (seq: number): Tables['calls'] => ({
    ...{ tenant_id: tenant, session_id: session, event_id: newId('event'), seq },
    ...{ state: 'done', worker: 0, deny_message: null },
  })
  const calls = Array.from({ length: count }, (_, seq) => call(seq))
  await database.write((tx) => tx.insertInto('calls').values(calls).execute())
}

const remove = (database: Database, session: string, now: number) =>
  database.write((tx) => deleteSession(tx, tenant, session, now))

/** A runner has removed its folder. */
const cleared = (database: Database, session: string) =>
  database.write((tx) =>
    tx.updateTable('session_heads').set({ due: 0 }).where('session_id', '=', session).execute(),
  )

for (const [dialect, open] of Object.entries(everyShape)) {
  describe(`deleted sessions on ${dialect}`, () => {
    it('have no row when their time is over, and those of others stay', async () => {
      await using opened = await open()
      const { database } = opened
      const [gone, other] = [await newSession(database), await newSession(database)]
      for (const session of [gone, other]) {
        const events = Array.from({ length: 600 }, () => agentMessage('x'))
        await keepEvents(database, session, [
          ...events,
          agentMessage('y'.repeat(3_000_000)),
          agentMessage('z'),
        ])
        await withCalls(database, session, 300)
      }
      const before = await rowsOf(database, other)
      assert.deepEqual(before, { calls: 300, events: 602, session_heads: 1, sessions: 1 })
      await remove(database, gone, 1000)
      await cleared(database, gone)
      assert.ok(await removeDeletedSessions(database, 1000 + hour, hour))
      assert.equal((await rowsOf(database, gone))['events'], 603)

      assert.ok(await removeDeletedSessions(database, 1001 + hour, hour))
      assert.deepEqual(await rowsOf(database, gone), {})
      assert.deepEqual(await rowsOf(database, other), before)
    })

    it('stay as long as a runner has their folder to remove', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await newSession(database)
      await remove(database, session, 0)
      assert.ok(await removeDeletedSessions(database, 10 * hour, hour))
      assert.equal((await rowsOf(database, session))['sessions'], 1)
      await cleared(database, session)
      assert.ok(await removeDeletedSessions(database, 10 * hour, hour))
      assert.deepEqual(await rowsOf(database, session), {})
    })

    it('stay as long as a worker has an item of theirs, which is settled by their head', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await newSession(database)
      const settle = () =>
        database.write((tx) => settleOverdue(tx, { now: 10 * hour, unclaimedMs: hour, limit: 50 }))
      await database.write((tx) =>
        enqueueItem(tx, { tenant, environment: 'env_test', session }, { now: 0 }),
      )
      const at = { now: 0, reclaimMs: 0 }
      const item = await claimNext(database, tenant, 'env_test', at)
      assert.ok(item)
      const ref = { tenant, environment: 'env_test', id: item.id }
      await acknowledgeItem(database, ref, { key: 'key', id: undefined }, 0)
      await remove(database, session, 0)
      await cleared(database, session)
      // No server ran meanwhile.
      assert.ok(await removeDeletedSessions(database, 10 * hour, hour))
      await settle()
      assert.ok(await removeDeletedSessions(database, 10 * hour, hour))
      assert.deepEqual(await rowsOf(database, session), {})
      await settle()
    })

    it('go in parts, between which others write', async () => {
      await using opened = await open()
      const { database } = opened
      const session = await newSession(database)
      const large = Array.from({ length: 20 }, () => agentMessage('x'.repeat(1_000_000)))
      await keepEvents(database, session, large)
      await remove(database, session, 0)
      await cleared(database, session)
      let written = 0
      const shared: Database = {
        ...database,
        async write(unit) {
          const value = await database.write(unit)
          await keepEvents(database, await newSession(database), [])
          written++
          return value
        },
      }
      assert.ok(await removeDeletedSessions(shared, 2 * hour, hour))
      assert.ok(written > large.length / 2, `${written}`)
      assert.deepEqual(await rowsOf(database, session), {})
    })
  })
}
