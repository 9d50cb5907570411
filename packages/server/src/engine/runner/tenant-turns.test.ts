import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createShare } from '../../ground/core/fairness/share.ts'
import type { Queries } from '../../ground/database/database.ts'
import { databases } from '../../ground/database/fixture.ts'
import { testGround } from '../../ground/ground-fixture.ts'
import { newSession } from '../../sessions/fixture.ts'
import { tenant } from '../../sessions/log/fixture.ts'
import { tenantsInTurn } from './tenant-turns.ts'

describe('tenants in turn', () => {
  it('start each waiting session as soon as there is room, also when slots become free during a look', async () => {
    await using testDatabase = await databases.sqlite()
    const { database } = testDatabase
    const sessions = []
    for (let n = 0; n < 7; n++) sessions.push(await newSession(database))
    const heads = (tx: Queries) => tx.updateTable('session_heads')
    await database.write((tx) => heads(tx).set({ due: 1 }).execute())
    let held: PromiseWithResolvers<void> | undefined
    const asked = Promise.withResolvers<void>()
    const looks = new WeakSet<object>()
    const read = (database.read as Queries).withPlugin({
      transformQuery({ node, queryId }) {
        const selected = 'selections' in node ? JSON.stringify(node.selections) : ''
        if (selected.includes('session_id')) looks.add(queryId)
        return node
      },
      async transformResult({ result, queryId }) {
        if (!held || !looks.has(queryId)) return result
        asked.resolve()
        await held.promise
        return result
      },
    })
    const slots = createShare({ total: 4, percent: 100 })
    const running = new Map<string, () => void>()
    const turns = tenantsInTurn({
      ...{ ...testGround({ ...database, read }), slots },
      isRunning: (session) => running.has(session),
      start({ session }) {
        const release = slots.take(tenant)
        if (release) running.set(session, release)
        else turns.full()
      },
      guard: (task) => void task(),
      signal: new AbortController().signal,
    })
    const claim = () => {
      const claimed = { owner: database.owners.self, expires_at: Date.now() + 60_000 }
      return database.write((tx) =>
        heads(tx)
          .set(claimed)
          .where('session_id', 'in', [...running.keys()])
          .execute(),
      )
    }
    const end = (session: string) => {
      running.get(session)?.()
      turns.left()
    }
    await turns.look()
    assert.deepEqual([...running.keys()].toSorted(), sessions.slice(0, 4))
    await claim()
    held = Promise.withResolvers()
    end(sessions[0] ?? '')
    await asked.promise
    for (const session of sessions.slice(1, 4)) end(session)
    held.resolve()
    held = undefined
    for (let tries = 0; tries < 40 && running.size < 7; tries++) {
      await delay(50)
      await claim()
    }
    turns.stop()
    assert.deepEqual([...running.keys()].toSorted(), sessions)
  })
})
