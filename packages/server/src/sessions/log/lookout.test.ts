import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Database } from '../../ground/database/database.ts'
import { memoryBus } from '../../ground/bus/memory.ts'
import { unitOn } from '../../ground/bus/fixture.ts'
import { newPostgresUrl } from '../../ground/database/fixture.ts'
import { everyShape } from '../../ground/database/shapes-fixture.ts'
import { postgresDatabase } from '../../ground/database/postgres.ts'
import { postgresProxy } from '../../ground/database/proxy-fixture.ts'
import { keepEvents, insertHead, agentMessage, tenant } from './fixture.ts'
import { lookAtHeads } from './lookout.ts'
import { tailLog } from './tail.ts'
import { announceChange } from './topics.ts'

/** The numbers of kept events, as a tail gives them. */
function numbers(database: Database, bus: ReturnType<typeof memoryBus>, session: string) {
  const { signal } = new AbortController()
  const options = { after: 0, extensions: false, dialect: 'interface' as const, signal }
  const tailed = tailLog({ read: database.read, bus }, tenant, session, options)
  return {
    async next(many: number): Promise<number[]> {
      const got: number[] = []
      while (got.length < many) {
        const { value } = await tailed.next()
        if (value?.kind === 'kept') got.push(value.row.seq)
      }
      return got
    },
    end: () => tailed.return(undefined),
  }
}

for (const [dialect, open] of Object.entries(everyShape)) {
  describe(`a look at the heads on ${dialect}`, () => {
    it('wakes a tail for changes without a notification', async () => {
      await using opened = await open()
      const { database } = opened
      const bus = memoryBus()
      const session = await insertHead(database)
      const tailed = numbers(database, bus, session)
      const got = tailed.next(3)
      await keepEvents(database, session, [agentMessage('heard')])
      announceChange(unitOn(bus), tenant, session)
      for (const text of ['unheard', 'unheard too']) {
        await keepEvents(database, session, [agentMessage(text)])
        await lookAtHeads()
      }
      assert.deepEqual(await got, [1, 2, 3])
      await tailed.end()
    })
  })
}

describe('a tail whose Postgres does not answer', () => {
  it('stays, and goes on from its position', async () => {
    await using proxy = await postgresProxy(await newPostgresUrl())
    const limits = { connectMs: 1_500, statementMs: 700, heartbeatMs: 700 }
    const database = await postgresDatabase(proxy.url, limits)
    const bus = memoryBus()
    const session = await insertHead(database)
    const tailed = numbers(database, bus, session)
    await keepEvents(database, session, [agentMessage('one')])
    assert.deepEqual(await tailed.next(1), [1])
    const got = tailed.next(2)
    await keepEvents(database, session, [agentMessage('two')])
    proxy.vanish()
    announceChange(unitOn(bus), tenant, session)
    await assert.rejects(database.read.selectFrom('settings').selectAll().execute())
    proxy.resume()
    const keeping = async (): Promise<void> =>
      keepEvents(database, session, [agentMessage('three')]).then(() => {}, keeping)
    await keeping()
    const looking = setInterval(() => void lookAtHeads(), 50)
    assert.deepEqual(await got, [2, 3])
    clearInterval(looking)
    await tailed.end()
    await database.close()
  })
})
